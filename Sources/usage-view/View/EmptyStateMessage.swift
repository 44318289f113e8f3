import TerminalText
import UsageState

/// The screen without data: why there is none, and what to do next.
enum EmptyStateMessage {
    static func lines(for model: ViewModel, width: Int) -> [StyledLine] {
        let (title, steps) = text(for: model)
        return title.wrapped(toCells: width).map { StyledLine($0, .bold) }
            + steps.flatMap { $0.wrapped(toCells: width - 2).map { StyledLine("  " + $0) } }
    }

    private static func text(for model: ViewModel) -> (title: String, steps: [String]) {
        switch model.situation {
        case .ready: ("", [])
        case .notJoined:
            (
                "Nothing has been pushed on this machine, and it has not joined an account.",
                [
                    "To see this machine's own limits:  usage-push",
                    "To see another machine's, where kvsd runs:  kvsd pair",
                    "and here, with the line that it prints:  kvs join LINE",
                ]
            )
        case .waitingForFirstPush:
            ("Waiting for the first push.", ["Start usage-push on the machine where you work."])
        case .offlineWithoutData:
            (
                "Offline: the daemon \(lastResponse(model)), and no data has been received.",
                ["Check that kvsd is running and reachable from this machine."]
            )
        case .noProviders:
            (
                "No providers: \(names(model)) pushed \(age(model)) but found no tool with limits.",
                ["To see where it looks, run there:  usage-push sources"]
            )
        case .unreadable:
            (
                "The stored snapshot cannot be read.",
                [
                    reason(model),
                    "Update usage-view, or push again with the current usage-push.",
                ]
            )
        }
    }

    private static func lastResponse(_ model: ViewModel) -> String {
        guard let lastSeen = model.data.link.lastSeen else { return "has never responded" }
        return "last responded " + DurationFormatter.age(of: lastSeen, at: model.now)
    }

    private static func names(_ model: ViewModel) -> String {
        model.devices.map { VisibleText.escape($0.name) }.joined(separator: ", ")
            .truncated(toCells: 60)
    }

    private static func age(_ model: ViewModel) -> String {
        DurationFormatter.age(of: model.devices.map(\.lastPush).max() ?? model.now, at: model.now)
    }

    private static func reason(_ model: ViewModel) -> String {
        guard case .unreadable(let reason) = model.data.stored else { return "" }
        return VisibleText.escape(reason).truncated(toCells: 200)
    }
}
