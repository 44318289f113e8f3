import Foundation
import SnapshotModels
import TerminalText
import UsagePusher

/// What is said about a push: pure text.
enum PushText {
    /// "claude 22 % / 37 % · codex 36 %": each provider's windows in their order.
    static func providers(_ snapshot: SyncedUsageSnapshot) -> String {
        snapshot.providers.map { provider in
            let windows = provider.windows.prefix(3).map { percent($0.usedPercent) }
            let state = windows.isEmpty ? "–" : windows.joined(separator: " / ")
            return VisibleText.escape(provider.providerID) + " " + state
        }.joined(separator: " · ")
    }

    /// "12:03:04 change: claude 22 %".
    static func line(
        _ snapshot: SyncedUsageSnapshot, _ reason: PushPlan.Reason, zone: TimeZone
    ) -> String {
        "\(time(snapshot.syncTimestamp, zone: zone)) \(reason.rawValue): \(providers(snapshot))"
    }

    /// " (1 204 bytes, 2 devices)".
    static func size(_ receipt: SnapshotPublisher.Receipt) -> String {
        let devices = receipt.deviceCount == 1 ? "1 device" : "\(receipt.deviceCount) devices"
        return " (\(receipt.deviceByteCount) + \(receipt.mergedByteCount) bytes, \(devices))"
    }

    static func time(_ date: Date, zone: TimeZone) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = calendar.dateComponents([.hour, .minute, .second], from: date)
        return [parts.hour, parts.minute, parts.second].map { number in
            let digits = String(number ?? 0)
            return digits.count < 2 ? "0" + digits : digits
        }.joined(separator: ":")
    }

    /// Whole percents; never 0 or 100 for what is not.
    static func percent(_ used: Double) -> String {
        if used > 0, used < 1 { return "<1 %" }
        if used > 99, used < 100 { return "99 %" }
        return "\(Int(used.rounded())) %"
    }

    /// Why there is nothing to push, and what to do about it.
    static func nothing(_ builder: SnapshotBuilder, home: String) -> String {
        let installed = builder.reports.filter { $0.reading?.isInstalled == true }
        guard installed.isEmpty else {
            let names = installed.map(\.providerName).joined(separator: ", ")
            return "nothing to push: \(names) found, but no limits or usage in what they wrote.\n"
                + "Why: usage-push sources"
        }
        let paths = builder.watchedPaths.map { "  " + abbreviated($0.path, home: home) }
        return "no tool has left anything to read. Looked for "
            + builder.reports.map(\.providerName).joined(separator: ", ") + " in\n"
            + paths.prefix(20).joined(separator: "\n")
            + "\nRun the tool once on this machine, or name another home folder with --home."
    }

    static func abbreviated(_ path: String, home: String) -> String {
        path.hasPrefix(home + "/") ? "~" + path.dropFirst(home.count) : path
    }
}
