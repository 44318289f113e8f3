import ClockZones
import Essentials
import LocalFiles
import SnapshotModels
import TerminalText
import UsagePusher
import UsageState

/// The texts about a push. Pure; texts from outside are escaped.
enum PushMessages {
    /// "claude 22 % / 37 % · codex 36 %": each provider's first windows.
    static func providers(_ snapshot: SyncedUsageSnapshot) -> String {
        snapshot.providers.map { provider in
            let windows = provider.windows.prefix(3).map { percent($0.usedPercent) }
            let state = windows.isEmpty ? "–" : windows.joined(separator: " / ")
            return VisibleText.escape(provider.providerID) + " " + state
        }.joined(separator: " · ")
    }

    /// "12:03:04 change: claude 22 %".
    static func line(_ snapshot: SyncedUsageSnapshot, _ reason: PushPlan.Reason) -> String {
        "\(time(snapshot.syncTimestamp)) \(reason.rawValue): \(providers(snapshot))"
    }

    /// " (612 + 1204 bytes, 2 devices)": the device's value and the merged one.
    static func size(_ receipt: SnapshotPublisher.Receipt) -> String {
        let devices = receipt.deviceCount == 1 ? "1 device" : "\(receipt.deviceCount) devices"
        return " (\(receipt.deviceByteCount) + \(receipt.mergedByteCount) bytes, \(devices))"
    }

    /// "12:03:04" in the user's time zone.
    static func time(_ date: Date) -> String {
        date.addingTimeInterval(TimeInterval(ClockZone.local.secondsFromGMT(at: date)))
            .formatted(Date.ISO8601FormatStyle(timeZone: .gmt).time(includingFractionalSeconds: false))
    }

    /// Whole percents; never 0 or 100 for anything else.
    static func percent(_ used: Double) -> String {
        if used > 0, used < 1 { return "<1 %" }
        if used > 99, used < 100 { return "99 %" }
        return "\(Int(used.rounded())) %"
    }

    /// If there are more, none is named.
    private static let namedTools = 3

    /// Why there is nothing to push, and what to do about it.
    static func nothingToPush(_ builder: SnapshotBuilder) -> String {
        if let incomplete = incomplete(builder.gaps) { return "nothing to push: " + incomplete }
        let installed = builder.reports.filter { $0.reading?.isInstalled == true }
        guard installed.isEmpty else {
            return
                "nothing to push: no limits in the files of \(names(installed, separator: " or "))"
                + "\nTo see why, run: usage-push sources"
        }
        let isAnyTool = builder.reports.count > namedTools
        let missing =
            isAnyTool ? "no AI coding tool was found here" : "no files of " + names(builder.reports, separator: " or ")
        return
            "nothing to push: \(missing). Run \(isAnyTool ? "one" : "the tool") once on this machine, or choose another "
            + "home directory with --home.\nTo see where it looks, run: usage-push sources"
    }

    /// ", incomplete: Codex": completes the line about a push; empty without gaps.
    static func remark(on gaps: [SnapshotBuilder.Gap]) -> String {
        gaps.isEmpty ? "" : ", incomplete: " + gaps.map { VisibleText.escape($0.providerName) }.joined(separator: ", ")
    }

    /// What is missing, a line for each tool; nil without gaps.
    static func incomplete(_ gaps: [SnapshotBuilder.Gap]) -> String? {
        guard !gaps.isEmpty else { return nil }
        return "not everything could be read, and numbers may be missing:\n"
            + gaps.map { "  \($0.providerName): \($0.reason)" }.joined(separator: "\n")
            + "\nTo see all of it, run: usage-push sources"
    }

    static let removed =
        "this machine has been removed from the account: its limits are stored here, and nobody else sees them. "
        + "Next: \(UsageData.Link.rejoining)"

    static func names(_ reports: [SnapshotBuilder.Report], separator: String = ", ") -> String {
        reports.map(\.providerName).joined(separator: separator)
    }
}
