import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// Commands that texts of the programs, their help and the documents tell users to run.
@Suite("Commands that texts name", .timeLimit(.minutes(5)))
struct NamedCommandTests {
    /// Programs as users call them, and as they are built.
    private static let programs = [
        "ubq": "ubq", "kvs": "kvs", "kvsd": "kvsd", "usage-push": "usage-push", "usage-view": "usage-view",
        "ubiquity-clip": "clip", "ubiquity-link": "link",
    ]
    /// The names by which `ubq` runs them.
    private static let others = [
        "view": "usage-view", "push": "usage-push", "kvs": "kvs", "daemon": "kvsd", "clip": "ubiquity-clip",
        "link": "ubiquity-link",
    ]
    private static let root = Repository.root

    /// Words of prose: names of commands too, or behind the name of a program in what stands like code.
    private static let prose: Set = [
        "open", "run", "set", "list", "show", "wait", "check", "report", "on", "restore", "was", "killed", "and", "add",
    ]

    /// A command in a text.
    private struct Mention {
        var place: String
        var text: String
        /// Whether all of it is a command, and not prose with one in it.
        var isCode: Bool
    }

    @Test("no command has two options of one name", arguments: programs.values.sorted())
    func repeatedOptions(program: String) async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        #expect(try await CommandTree(of: program, home).repeatedOptions.isEmpty)
    }

    @Test("each exists, with its options")
    func existence() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        var trees: [String: CommandTree] = [:]
        for (name, program) in Self.programs {
            trees[name] = try await CommandTree(of: program, home)
        }
        let commands = trees.values.reduce(into: Set<String>()) { $0.formUnion($1.names) }.subtracting(Self.prose)
        let mentions = try Self.mentions()
        #expect(mentions.count > 500)
        var problems: [String] = []
        for mention in mentions {
            var words = Self.words(of: mention.text)
            var program = words.removeFirst()
            if program == "ubq", let other = words.first.flatMap({ Self.others[$0] }) {
                (program, words) = (other, Array(words.dropFirst()))
            }
            guard let tree = trees[program] else { continue }
            let problem = tree.problem(with: words, isCode: mention.isCode, commands: commands, prose: Self.prose)
            if let problem { problems.append("\(mention.place): '\(mention.text)': \(problem)") }
        }
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    // MARK: - Texts

    private static func mentions() throws -> [Mention] {
        let documents = try names(below: "docs", ["md"]).filter { !$0.contains("/decisions/") }
        let readme = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
        let sources = try names(below: "Sources", ["swift", "js", "html"])
        return try (documents + readme).flatMap { try document($0) } + sources.flatMap { try source($0) }
    }

    private static func names(below directory: String, _ types: [String]) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: directory).path)
            .filter { types.contains(($0 as NSString).pathExtension) }.sorted()
            .map { directory + "/" + $0 }
    }

    private static func lines(of file: String) throws -> [(place: String, text: Substring)] {
        let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
        // Regular expressions are slow, and most lines name no program.
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { line in ["ubq", "kvs", "usage-", "ubiquity-", "```"].contains { line.element.contains($0) } }
            .map { ("\(file):\($0.offset + 1)", $0.element) }
    }

    /// Blocks of code and code in lines.
    private static func document(_ file: String) throws -> [Mention] {
        var (isBlock, mentions) = (false, [Mention]())
        for (place, line) in try lines(of: file) {
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isBlock.toggle()
            } else if isBlock {
                mentions += commands(in: line, place)
            } else {
                mentions += line.matches(of: /`([^`]+)`/).flatMap { commands(in: $0.1, place) }
                mentions += prose(in: Substring(line.replacing(/`[^`]*`/, with: "")), place)
            }
        }
        return mentions
    }

    private static func source(_ file: String) throws -> [Mention] {
        try lines(of: file).flatMap { place, line in
            let quoted = line.matches(of: /'([^'"]+)'/).flatMap { commands(in: $0.1, place) }
            return quoted + prose(in: line, place)
        }
    }

    /// The commands of a line of a shell.
    private static func commands(in line: Substring, _ place: String) -> [Mention] {
        let line = line.replacing(/(^|\s)#\s.*/, with: "")
        return line.split { "|;&()<>".contains($0) }.compactMap { part in
            let words = part.split(separator: " ").drop { word in
                word == "$" || word == "sudo" || word == "exec" || word.contains("=") && !word.hasPrefix("-")
            }
            guard let first = words.first, programs[String(first)] != nil else { return nil }
            return Mention(place: place, text: words.joined(separator: " "), isCode: true)
        }
    }

    /// What follows the name of a program anywhere, as far as it may be part of a command.
    private static func prose(in line: Substring, _ place: String) -> [Mention] {
        let pattern =
            /(?:^|[\s'"`(:])((?:ubq|kvsd?|usage-push|usage-view|ubiquity-clip|ubiquity-link)(?: +[-a-zA-Z\/*=]+)+)/
        return line.matches(of: pattern).map { Mention(place: place, text: String($0.1), isCode: false) }
    }

    /// Without what a synopsis or a sentence puts around words.
    private static func words(of text: String) -> [String] {
        text.split(separator: " ").map { word in
            String(word.drop { "[(".contains($0) }.trimmingSuffix { "]),.:;'\"…".contains($0) })
        }.filter { !$0.isEmpty }
    }
}

extension Substring {
    fileprivate func trimmingSuffix(_ isTrimmed: (Character) -> Bool) -> Substring {
        var text = self
        while let last = text.last, isTrimmed(last) { text.removeLast() }
        return text
    }
}
