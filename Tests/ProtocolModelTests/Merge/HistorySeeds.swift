import Foundation

/// Seeds of generated histories: fixed ones and fresh ones, or the one of `UBIQUITY_SEED`.
enum HistorySeeds {
    static func each(
        _ count: Int, of subject: String, _ body: (UInt64) throws -> Void
    ) rethrows {
        if let text = ProcessInfo.processInfo.environment["UBIQUITY_SEED"],
            let seed = UInt64(text)
        {
            print("\(subject): UBIQUITY_SEED=\(seed)")
            return try body(seed)
        }
        let first = UInt64.random(in: 1_000_000...UInt64(UInt32.max))
        print("\(subject): seeds 1 to \(count / 2), and \(count - count / 2) from \(first) on")
        for seed in 1...UInt64(count / 2) { try body(seed) }
        for seed in first..<first + UInt64(count - count / 2) { try body(seed) }
    }
}
