import Foundation
import TestSupport
import Testing

/// A command with its options and subcommands, as the parser of the real program describes it.
struct CommandTree: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            var kind: String
            var name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        var kind: String
        var names: [Name]?
    }

    private struct Description: Decodable {
        var command: CommandTree
    }

    var commandName: String
    var subcommands: [CommandTree]?
    var arguments: [Argument]?

    init(of program: String, _ home: TemporaryHome) async throws {
        let described = try await home.run(program, ["--experimental-dump-help"])
        self = try JSONDecoder().decode(Description.self, from: described.output).command
    }

    /// The names of all commands below this one.
    var names: Set<String> { (subcommands ?? []).reduce(into: []) { $0.formUnion($1.names.union([$1.commandName])) } }

    /// The options that a command here has more than once, which only a build for debugging refuses.
    var repeatedOptions: [String] {
        // That of the parser itself.
        if commandName == "help" { return [] }
        let names = (arguments ?? []).flatMap { $0.names ?? [] }.map { commandName + " " + $0.text }
        return Dictionary(grouping: names) { $0 }.filter { $1.count > 1 }.keys.sorted()
            + (subcommands ?? []).flatMap(\.repeatedOptions)
    }

    private var takesValues: Bool { arguments?.contains { $0.kind == "positional" } ?? false }

    private func option(_ text: String) -> Argument? {
        arguments?.first { $0.names?.contains { $0.text == text } ?? false }
    }

    /// What is wrong with the words that follow the command; nil if nothing is.
    ///
    /// - Parameters:
    ///   - isCode: whether each word is to be one of the command, and not only `commands`, which are names of some
    ///     command.
    ///   - prose: words that are none.
    func problem(with words: [String], isCode: Bool, commands: Set<String>, prose: Set<String>) -> String? {
        var path = [self]
        var words = words[...]
        while let word = words.popFirst() {
            let current = path[path.count - 1]
            if word == "--" { return nil }
            if word.hasPrefix("--") || isCode && word.hasPrefix("-") && word.count > 1 {
                let name = String(word.prefix { $0 != "=" })
                // Which subcommand is the default is not described.
                let known = (path + (current.subcommands ?? [])).lazy.compactMap { $0.option(name) }
                guard let option = known.first else { return "\(current.commandName) has no option \(name)" }
                if option.kind == "option", !word.contains("=") { _ = words.popFirst() }
            } else if let next = current.subcommands?.first(where: { $0.commandName == word }) {
                path.append(next)
            } else if current.takesValues {
                if !isCode { return nil }
            } else if !prose.contains(word),
                isCode ? word.wholeMatch(of: /[a-z][a-z-]*/) != nil : commands.contains(word)
            {
                return "\(current.commandName) has no subcommand \(word)"
            } else {
                return nil
            }
        }
        return nil
    }
}
