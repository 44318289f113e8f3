import Foundation
import TestSupport
import Testing
import UsageState

/// Random readings of two accounts, against what their whole history says.
@Suite("Alerts over random histories")
struct AlertHistoryTests {
    @Test("each threshold passed between two known numbers is alerted once, none before the first")
    func passing() throws {
        var (alertCount, firstCount) = (0, 0)
        for seed in UInt64(1)...300 {
            var run = try AlertHistoryRun(seed: seed)
            while let look = try run.next() {
                let expected = look.expected
                if expected != nil { alertCount += 1 }
                if look.isFirstThatCounts, expected != nil { firstCount += 1 }
                let alerts = expected.map { [$0] } ?? []
                try #require(look.detected == alerts, "seed \(seed)\n\(run.log)")
                try #require(look.delivered == alerts, "seed \(seed)\n\(run.log)")
            }
        }
        // The histories have something to say, also after old numbers alone.
        #expect(alertCount > 1_500 && firstCount > 80, "\(alertCount), \(firstCount)")
    }
}
