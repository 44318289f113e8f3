import Foundation
import KVStoreCore
import KVStoreLedger
import KVStoreLog

/// A daemon's log with many small stores: how long opening takes, and how much memory it needs.
enum DaemonOpenBenchmarks {
    private static let group = "open a daemon's log"

    static func measure(_ setting: Setting) throws -> Findings {
        var samples: [(String, [Double])] = []
        var facts: [Fact] = []
        for count in [10_000, 100_000].map({ $0 / setting.divisor }) {
            let folder = try ScratchFolder(in: setting.folder)
            try fill(folder.path, storeCount: count)
            var openings: [Opening] = []
            for _ in 0..<5 { openings.append(try inOwnProcess(folder.path)) }
            guard openings.allSatisfy({ $0.storeCount == count }) else {
                throw Unexpected("stores are missing")
            }
            let name = "\(count) stores of 3 keys of 100 bytes"
            samples.append((name, openings.map(\.nanoseconds)))
            facts.append(
                Fact(group: group, name: "\(name): log size", byteCount: try ScratchFolder.logByteCount(folder.path)))
            facts += openings[0].facts(group: group, name: name)
        }
        let sampling = Sampling(group: group, runs: 5)
        return Findings(measurements: sampling.ratios(samples), facts: facts)
    }

    private static func fill(_ folder: String, storeCount: Int) throws {
        let ledger = try Ledger(storage: try FileLogStorage(directory: folder), seed: 1)
        for store in 0..<storeCount {
            try LedgerClient(store: store).fill(ledger, keyCount: 3, valueByteCount: 100, number: store * 3)
        }
        try ledger.sync()
        try ledger.close()
    }

    /// The cost of opening once.
    struct Opening: Codable {
        var nanoseconds: Double
        var storeCount: Int
        var residentBefore: Int?
        var residentAfter: Int?
        var peak: Int?

        func facts(group: String, name: String) -> [Fact] {
            guard let residentBefore, let residentAfter, let peak else { return [] }
            return [
                Fact(group: group, name: "\(name): memory of the stores", byteCount: residentAfter - residentBefore),
                Fact(group: group, name: "\(name): peak memory while opening", byteCount: peak - residentBefore),
            ]
        }
    }

    /// Opens the log in this process, when started with `openingOption`.
    static func open(_ folder: String) throws -> Opening {
        let before = ProcessMemory.resident
        var ledger: Ledger?
        let elapsed = try nanoseconds {
            ledger = try Ledger(storage: try FileLogStorage(directory: folder), seed: 2)
        }
        return Opening(
            nanoseconds: elapsed, storeCount: ledger?.storeCount ?? 0, residentBefore: before,
            residentAfter: ProcessMemory.resident, peak: ProcessMemory.peak)
    }

    static let openingOption = "--open-ledger"

    /// Opens the log in a separate process, whose memory holds nothing else.
    private static func inOwnProcess(_ folder: String) throws -> Opening {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [openingOption, folder]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Unexpected("opening failed") }
        return try JSONDecoder().decode(Opening.self, from: text)
    }
}
