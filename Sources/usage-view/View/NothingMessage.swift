import TerminalText

/// What a screen says when it has no numbers: what is the case, and what to do next.
enum NothingMessage {
    static func lines(for model: ViewModel, width: Int) -> [StyledLine] {
        let (title, steps) = text(for: model)
        var lines = WordWrap.lines(title, width: width).map { StyledLine($0, .bold) }
        for step in steps {
            lines += WordWrap.lines(step, width: max(1, width - 2)).map { StyledLine("  " + $0) }
        }
        return lines
    }

    static func text(for model: ViewModel) -> (title: String, steps: [String]) {
        switch model.situation {
        case .ready:
            return ("", [])
        case .notJoined:
            return (
                "Nothing has been pushed here, and this machine is not joined to a store.",
                [
                    "To see this machine's own limits:  usage-push",
                    "To see another machine's, where kvsd runs:  kvsd device add NAME",
                    "and here:  kvs join URL --token TOKEN",
                ]
            )
        case .waitingForFirstPush:
            return (
                "Waiting for the first push.",
                ["Start usage-push on the machine where you work."]
            )
        case .offlineWithoutData:
            return (offlineTitle(model), ["Check that kvsd runs and that this machine reaches it."])
        case .noProviders:
            let names = model.devices.map { VisibleText.escape($0.name) }
                .joined(separator: ", ").truncated(toCells: 60)
            let newest = model.devices.map(\.lastPush).max() ?? model.now
            let age = DurationWords.age(of: newest, at: model.now)
            return (
                "No providers: \(names) pushed \(age) and found no tool with limits.",
                ["See what it looks at there:  usage-push sources"]
            )
        case .unreadable:
            guard case .unreadable(let reason) = model.stored else { return ("", []) }
            return (
                "The stored snapshot cannot be read.",
                [
                    VisibleText.escape(reason).truncated(toCells: 200),
                    "Update usage-view, or push again with the current usage-push.",
                ]
            )
        }
    }

    private static func offlineTitle(_ model: ViewModel) -> String {
        if case .offline(let lastSeen?) = model.link {
            return "Offline, server last seen "
                + DurationWords.age(of: lastSeen, at: model.now)
                + ", and nothing has been received yet."
        }
        return "Offline: the server has never answered, and nothing has been received yet."
    }
}
