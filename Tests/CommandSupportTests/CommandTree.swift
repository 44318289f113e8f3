import Foundation
import ProgramTesting
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
    var defaultSubcommand: String?

    init(of program: String, _ home: TemporaryHome) async throws {
        let described = try await home.run(program, ["--experimental-dump-help"])
        self = try JSONDecoder().decode(Description.self, from: described.output).command
    }

    /// The names of all commands below this one.
    var names: Set<String> {
        (subcommands ?? []).reduce(into: []) { $0.formUnion($1.names.union([$1.commandName])) }
    }

    private var takesValues: Bool { arguments?.contains { $0.kind == "positional" } ?? false }

    private func option(_ text: String) -> Argument? {
        arguments?.first { $0.names?.contains { $0.text == text } ?? false }
    }

    /// What is wrong with the words that follow the command; nil if nothing is.
    ///
    /// - Parameters:
    ///   - commands: names that are a mistake where they are none of a subcommand; nil if every word is one that is neither
    ///     a subcommand nor a value.
    func problem(with words: [String], unlessKnown commands: Set<String>?) -> String? {
        var path = [self]
        var words = words[...]
        while let word = words.popFirst() {
            let current = path[path.count - 1]
            if word == "--" { return nil }
            if word.hasPrefix("-"), word.count > 1 {
                let name = String(word.prefix { $0 != "=" })
                let inner = current.defaultSubcommand.flatMap { name in
                    current.subcommands?.first { $0.commandName == name }
                }
                guard
                    let option = (path + [inner].compactMap { $0 }).lazy.compactMap({
                        $0.option(name)
                    }).first
                else { return "\(current.commandName) has no option \(name)" }
                if option.kind == "option", !word.contains("=") { _ = words.popFirst() }
            } else if let next = current.subcommands?.first(where: { $0.commandName == word }) {
                path.append(next)
            } else if current.takesValues || current.defaultSubcommand != nil {
                if commands != nil { return nil }
            } else if commands?.contains(word) ?? (word.wholeMatch(of: /[a-z][a-z-]*/) != nil) {
                return "\(current.commandName) has no subcommand \(word)"
            } else {
                return nil
            }
        }
        return nil
    }
}
