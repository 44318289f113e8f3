package import Foundation
package import SnapshotModels
package import UsageState

extension UsageHistory {
    /// What was recorded each quarter of an hour before `end`, while each window of five hours was used evenly, up to
    /// 60 percent.
    ///
    /// - Parameters:
    ///   - account: its own windows do not count.
    ///   - end: is not recorded itself.
    ///   - reset: when the last window is reset.
    ///   - quarters: how many quarters of an hour.
    package static func even(
        _ account: ProviderUsageSnapshot, until end: Date, resetsAt reset: Date, quarters: Int
    ) -> UsageHistory {
        var (history, account) = (UsageHistory(), account)
        for quarter in stride(from: quarters, to: 0, by: -1) {
            let time = end.addingTimeInterval(Double(quarter) * -900)
            let rest = reset.timeIntervalSince(time).truncatingRemainder(dividingBy: 18_000)
            account.lastUpdated = time
            account.rateWindows = [
                SyncRateWindow(
                    usedPercent: 60 * (1 - rest / 18_000), windowMinutes: 300, resetsAt: time.addingTimeInterval(rest))
            ]
            history.add([account], now: time)
        }
        return history
    }
}
