import Foundation

/// Seeds of generated histories: fixed ones and fresh ones, or only the one of `UBIQUITY_SEED`.
enum HistorySeeds {
    static func each(_ count: UInt64, of subject: String, _ body: (UInt64) throws -> Void) rethrows {
        if let text = ProcessInfo.processInfo.environment["UBIQUITY_SEED"], let seed = UInt64(text) {
            print("\(subject): UBIQUITY_SEED=\(seed)")
            return try body(seed)
        }
        let first = UInt64.random(in: 1_000_000...UInt64(UInt32.max))
        print("\(subject): \(count / 2) seeds from 1, \(count - count / 2) from \(first)")
        for seed in 1...count / 2 { try body(seed) }
        for seed in first..<first + count - count / 2 { try body(seed) }
    }
}

/// A law that a history breaks, with the seed that reproduces it.
struct HistoryFailure: Error, CustomStringConvertible {
    let description: String

    init(_ law: String, _ seed: UInt64) {
        description = "\(law) (repeat with UBIQUITY_SEED=\(seed))"
    }
}
