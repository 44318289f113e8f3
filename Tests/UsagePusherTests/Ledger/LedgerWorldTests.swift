import Foundation
import Testing

@testable import UsagePusher

/// `UBIQUITY_LEDGER_WORLDS=COUNT` runs so many worlds, and `UBIQUITY_LEDGER_SEED=NUMBER` begins with that one.
@Suite("The ledger of machines whose use is known")
struct LedgerWorldTests {
    private static let count = number("UBIQUITY_LEDGER_WORLDS") ?? 300
    private static let first = number("UBIQUITY_LEDGER_SEED") ?? 1

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }

    @Test(
        "each request counts once on all machines at the last prices, whatever is copied, restored, resumed or deleted"
    )
    func worlds() {
        var failureCount = 0
        for seed in Self.first..<Self.first + Self.count {
            var world = LedgerWorld(seed: seed)
            let problems = world.run()
            guard !problems.isEmpty else { continue }
            failureCount += 1
            guard failureCount <= 3 else { continue }
            Issue.record(
                """
                To see it alone, set UBIQUITY_LEDGER_WORLDS=1 UBIQUITY_LEDGER_SEED=\(seed)
                \(problems.prefix(12).joined(separator: "\n"))
                """)
        }
        #expect(failureCount == 0, "of \(Self.count) worlds")
    }

    @Test("what is wrong at the seams of the ledger is found", arguments: LedgerWorld.Fault.allCases)
    func faults(_ fault: LedgerWorld.Fault) {
        let found = (1...400 as ClosedRange<UInt64>).first { seed in
            var world = LedgerWorld(seed: seed, fault: fault)
            return !world.run().isEmpty
        }
        #expect(found != nil)
    }
}
