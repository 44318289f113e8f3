import Foundation
import Testing

/// What comes with the installed programs: a manual page for each, and the documents that the texts of both name.
@Suite("Manual")
struct ManualTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private struct Program {
        /// The target's name.
        var name: String
        var directory: String
        var page: String
    }

    /// The text after "struct NAME", up to the next structure of the file.
    private struct Declaration {
        var name: String
        var text: String
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }

    private static func sources(below directory: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: directory).path)
            .filter { $0.hasSuffix(".swift") }.sorted().map { try text("\(directory)/\($0)") }
    }

    /// The programs of Package.swift that are installed: those whose sources are in `Sources`.
    private static func programs() throws -> [Program] {
        try text("Package.swift").matches(of: /program\(\s*"([a-z-]+)"/).compactMap { match in
            let name = String(match.1)
            let doors = ["Sources", "Sources/Companions", "Sources/Programs", "Sources/Usage"]
            guard let directory = doors.map({ "\($0)/\(name)" }).first(where: exists) else { return nil }
            let installed = ["clip", "link"].contains(name) ? "ubiquity-\(name)" : name
            return Program(name: name, directory: directory, page: "packaging/man/\(installed).1")
        }
    }

    @Test("each program has a manual page, with the sections of the others")
    func pages() throws {
        let programs = try Self.programs()
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.root.appending(path: "packaging/man").path)
        #expect(names.map { "packaging/man/\($0)" }.sorted() == programs.map(\.page).sorted())
        let sections = [
            "NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "COMMANDS", "FILES", "ENVIRONMENT", "EXIT STATUS",
            "SEE ALSO",
        ]
        for program in programs {
            let lines = try Self.text(program.page).split(separator: "\n")
            let found = lines.filter { $0.hasPrefix(".Sh ") }.map { String($0.dropFirst(4)) }
            #expect(found == sections, "\(program.page)")
        }
    }

    @Test("a manual page has an entry for each command that the sources of its program declare")
    func commands() throws {
        for program in try Self.programs() {
            let declarations = try Self.sources(below: program.directory).flatMap(Self.declarations)
            let commands = try Self.commands(declarations)
            #expect(commands.count > 4, "\(program.name)")
            // Without the macros, which begin with a capital letter.
            let entries = try Self.text(program.page).split(separator: "\n").filter { $0.hasPrefix(".It Cm ") }
                .map { $0.split(separator: " ").dropFirst(2).filter { $0.first?.isLowercase == true }.map(String.init) }
            for command in commands {
                #expect(entries.contains { $0.starts(with: command) }, "\(program.page): \(command)")
            }
        }
    }

    private static func declarations(in source: String) -> [Declaration] {
        source.components(separatedBy: "struct ").dropFirst().map { text in
            Declaration(name: String(text.prefix { $0.isLetter || $0.isNumber }), text: text)
        }
    }

    /// Each command as the words that call it, such as `device` and `list`.
    private static func commands(_ declarations: [Declaration]) throws -> [[String]] {
        var lists: [String: [String]] = [:]
        for declaration in declarations {
            guard let list = declaration.text.firstMatch(of: /subcommands: \[([^\]]*)\]/) else { continue }
            lists[declaration.name] = list.1.matches(of: /(\w+)\.self/).map { String($0.1) }
        }
        func commands(of owner: String) -> [[String]] {
            (lists[owner] ?? []).flatMap { type in
                let name = Self.name(of: type, declarations)
                return [[name]] + commands(of: type).map { [name] + $0 }
            }
        }
        let listed = Set(lists.values.joined())
        return commands(of: try #require(lists.keys.first { !listed.contains($0) }))
    }

    /// What it says itself, else that of its type with hyphens, as ArgumentParser names it.
    private static func name(of type: String, _ declarations: [Declaration]) -> String {
        for declaration in declarations where declaration.name == type {
            if let name = declaration.text.firstMatch(of: /commandName: "([a-z-]+)"/) { return String(name.1) }
        }
        return type.reduce(into: "") { name, letter in
            if letter.isUppercase, !name.isEmpty { name += "-" }
            name += letter.lowercased()
        }
    }

    @Test("each document that a text of a program or a manual page names is there to be packed")
    func documents() throws {
        let texts = try Self.sources(below: "Sources").flatMap { $0.split(separator: "\n") }
            .filter { $0.contains("docs/") && !$0.drop { $0 == " " }.hasPrefix("//") }
            .flatMap { $0.matches(of: /docs\/([A-Za-z-]+(?:\.md|\.schema\.json))/).map { String($0.1) } }
        let pages = try Self.programs().flatMap { program in
            try Self.text(program.page).matches(of: /\.Pa ([a-z-]+(?:\.md|\.schema\.json))/).map { String($0.1) }
        }
        #expect(texts.count > 20)
        for name in Set(texts + pages).sorted() { #expect(Self.exists("docs/\(name)"), "\(name)") }
    }
}
