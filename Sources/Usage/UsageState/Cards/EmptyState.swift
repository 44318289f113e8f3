import Essentials
import TerminalText

/// Why there is nothing to show, and what to do next. Strings are escaped.
package struct EmptyState: Sendable, Equatable, Encodable {
    package let title: TimedText
    package let steps: [TimedText]

    /// Nil where there is something to show.
    package init?(_ model: ViewModel) {
        switch model.situation {
        case .ready: return nil
        case .notJoined:
            title = "Nothing has been pushed on this machine, and it has not joined an account."
            steps = [
                "To see this machine's own limits:  usage-push",
                "To share them, or to see another machine's, there:  ubq up",
                "and here, with the line that it prints:  ubq join LINE",
            ]
        case .removed:
            title = "This machine has been removed from the account, and no data has been received."
            steps = ["To join again, run:  \(UsageData.Link.rejoining)"]
        case .waitingForFirstPush:
            title = "Waiting for the first push."
            steps = ["Start usage-push on the machine where you work."]
        case .offlineWithoutData:
            let response: TimedText =
                model.data.link.lastSeen.map { "last responded \(ago: $0)" }
                ?? "has never responded"
            title = "Offline: the daemon \(response), and no data has been received."
            steps = ["Check that kvsd is running and reachable from this machine."]
        case .noProviders:
            let names = model.devices.map { VisibleText.escape($0.name) }.joined(separator: ", ").truncated(toCells: 60)
            let time = model.devices.map(\.lastPush).max() ?? model.now
            title = "No providers: \(names) pushed \(ago: time) but found no tool with limits."
            steps = ["To see where it looks, run there:  usage-push sources"]
        case .unreadable:
            var reason = ""
            if case .unreadable(let text) = model.data.stored {
                reason = VisibleText.escape(text).truncated(toCells: 200)
            }
            title = "The stored snapshot cannot be read."
            steps = [
                TimedText(reason),
                "Update usage-view, or push again with the current usage-push.",
            ]
        }
    }
}
