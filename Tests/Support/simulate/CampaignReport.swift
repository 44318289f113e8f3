import Foundation
import SimulatedWorld

/// What a campaign has come to.
struct CampaignReport: Encodable {
    struct Broken: Encodable {
        var seed: UInt64
        var promise: String
        var detail: String
    }

    struct Line: Encodable {
        var name: String
        var count: Int
        /// Seeds in which it happened at least once.
        var seedCount: Int
    }

    var first: UInt64 = 0
    var seedCount = 0
    var seconds: Double = 0
    var broken: [Broken] = []
    private var faults: [Line] = []
    private var work: [Line] = []

    mutating func add(seed: UInt64, faults: [FaultCount], work: [FaultCount], violation: Violation?) {
        seedCount += 1
        Self.add(faults, to: &self.faults)
        Self.add(work, to: &self.work)
        if let violation {
            broken.append(Broken(seed: seed, promise: violation.promise, detail: violation.detail))
        }
    }

    /// Every world counts the same things in the same order.
    private static func add(_ counts: [FaultCount], to lines: inout [Line]) {
        if lines.isEmpty { lines = counts.map { Line(name: $0.name, count: 0, seedCount: 0) } }
        for (index, count) in counts.enumerated() {
            lines[index].count += count.count
            lines[index].seedCount += count.count > 0 ? 1 : 0
        }
    }

    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(self)
    }

    var text: String {
        let width = (faults + work).map(\.name.count).max() ?? 0
        func row(_ name: String, _ count: String, _ seeds: String) -> String {
            name.padding(toLength: width, withPad: " ", startingAt: 0)
                + String(repeating: " ", count: max(2, 14 - count.count)) + count
                + String(repeating: " ", count: max(2, 12 - seeds.count)) + seeds + "\n"
        }
        var text = row("fault", "times", "in seeds")
        for line in faults { text += row(line.name, "\(line.count)", "\(line.seedCount)") }
        text += "\n" + row("work", "times", "in seeds")
        for line in work { text += row(line.name, "\(line.count)", "\(line.seedCount)") }
        text +=
            "\n\(seedCount) seeds from \(first) on in \(Int(seconds)) s, \(broken.count) broken\n"
        for seed in broken {
            text += "  \(seed.promise): scripts/simulate --seed \(seed.seed) --trace\n"
        }
        return text
    }
}
