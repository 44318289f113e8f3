import UsagePusher

/// A command that starts an agent, as far as its words say what it is.
struct AgentCommand: Sendable, Equatable {
    let words: [String]

    /// Programs that are not named as their provider is.
    private static let others = [
        "cursor-agent": "cursor", "droid": "factory", "kilocode": "kilo", "kiro-cli": "kiro", "kimi-cli": "kimi",
    ]

    /// Without directories.
    var name: String { words.first?.split(separator: "/").last.map(String.init) ?? "" }

    /// The id of the tool that is started; nil for another program.
    var provider: String? {
        Self.others[name] ?? UsageSources.all.map(\.providerID).first { $0 == name }
    }

    /// The model that it is told to use.
    var model: String? { value(of: "--model") }

    /// Whether what it prints says what it is told of its limits.
    var streams: Bool { value(of: "--output-format") == "stream-json" }

    /// "--option value" or "--option=value".
    private func value(of option: String) -> String? {
        for (word, next) in zip(words, words.dropFirst() + [""]) {
            if word == option { return next }
            if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
        }
        return nil
    }
}
