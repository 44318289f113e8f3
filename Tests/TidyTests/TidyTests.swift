import Foundation
import Testing

/// Rules that hold everywhere in the repository.
@Suite("Tidy")
struct TidyTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private struct Source {
        var path: String
        var lines: [Substring]
    }

    /// Whose directories are targets.
    private static let directories = [
        "Sources", "Sources/Companions", "Sources/Machine", "Sources/Programs", "Sources/Server",
        "Sources/Store", "Sources/Testing", "Sources/Usage", "Tests", "Tests/Support",
    ]

    private static let pageTypes = ["css", "html", "js", "svg", "webmanifest"]

    private static func files(
        below directory: String, types: [String] = ["swift"]
    ) throws -> [Source] {
        let base = root.appending(path: directory)
        let names = try FileManager.default.subpathsOfDirectory(atPath: base.path)
        return try names.filter { types.contains(($0 as NSString).pathExtension) }.sorted().map {
            let text = try String(contentsOf: base.appending(path: $0), encoding: .utf8)
            return Source(
                path: "\(directory)/\($0)",
                lines: text.split(separator: "\n", omittingEmptySubsequences: false))
        }
    }

    private func offenders(
        in directories: [String] = ["Sources"], types: [String] = ["swift"],
        where isOffence: (Source, Substring) -> Bool
    ) throws -> [String] {
        try directories.flatMap { try Self.files(below: $0, types: types) }.flatMap { source in
            source.lines.enumerated()
                .filter { isOffence(source, $0.element) }
                .map { "\(source.path):\($0.offset + 1): \($0.element)" }
        }
    }

    @Test("conditions on the platform are only in Platform directories")
    func platformConditions() throws {
        let found = try offenders(in: ["Sources", "Tests"]) { source, line in
            guard !source.path.contains("/Platform/") else { return false }
            let text = line.drop { $0 == " " }
            return text.hasPrefix("#if os(") || text.hasPrefix("#if canImport(")
                || text.hasPrefix("#if !os(") || text.hasPrefix("#elseif os(")
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test("what apps embed imports nothing but the toolchain's modules and its own layers")
    func imports() throws {
        let layers = [
            "KVStore", "KVStoreEssentials", "KVStoreLog", "KVStoreCore", "LocalFiles",
            "SnapshotModels",
        ]
        let allowed = Set(layers + ["CShims", "Essentials", "Foundation", "Dispatch", "Synchronization"])
        let found = try offenders { source, line in
            guard let module = Self.importedModule(line) else { return false }
            return layers.contains { source.path.contains("/\($0)/") } && !allowed.contains(module)
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    /// The libraries for apps that need all of Foundation. No program imports them.
    private static let wholeFoundation = ["KVStore", "KVStoreTesting"]

    @Test("nothing that a program contains imports all of Foundation, which links ICU")
    func localizationData() throws {
        let found = try offenders { source, line in
            guard let module = Self.importedModule(line) else { return false }
            let isFree = Self.wholeFoundation.contains { source.path.contains("/\($0)/") }
            let isBase = source.path.hasSuffix("Essentials/Platform/Essentials.swift")
            return !isFree && !isBase && (module.hasPrefix("Foundation") || Self.wholeFoundation.contains(module))
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test("no program asks Foundation for a zone or a locale, of which it knows none without ICU")
    func namedZones() throws {
        let names = [
            "TimeZone.current", "TimeZone.auto", "timeZone: .current", "TimeZone(", "Calendar.current", "Calendar.auto",
            "Locale.current", "Locale.auto", "Locale(",
        ]
        let found = try offenders { source, line in
            // Most lines have none of the words.
            guard ["Zone", "Calendar", "Locale"].contains(where: { line.contains($0) }) else { return false }
            return !Self.wholeFoundation.contains { source.path.contains("/\($0)/") }
                && names.contains { line.contains($0) } && !line.drop { $0 == " " }.hasPrefix("//")
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test("no signal is left to a dispatch source, which misses those that arrive before it is installed")
    func signalSources() throws {
        let found = try offenders { _, line in line.contains("makeSignalSource") }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    private static func importedModule(_ line: Substring) -> String? {
        let words = line.split(separator: " ")
        guard let index = words.firstIndex(of: "import"), index <= 2,
            words[..<index].allSatisfy({
                $0.hasPrefix("@") || $0 == "public" || $0 == "package"
            }),
            index + 1 < words.count
        else { return nil }
        return String(words[index + 1])
    }

    @Test("the daemon's library does not know the emulator")
    func layering() throws {
        let found = try offenders(in: ["Sources/Server/KVStoreServer"]) { _, line in
            ["emulat", "world"].contains { line.lowercased().contains($0) }
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test("comments have at most 120 columns, as code has by the formatter")
    func columns() throws {
        let found = try offenders(in: ["Sources", "Tests"]) { _, line in
            line.count > 120 && line.drop { $0 == " " }.hasPrefix("//")
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test("a comment is a sentence of its own: none begins with 'Of', to be read after a name")
    func beginnings() throws {
        let beginnings = ["//" + " Of ", "/*" + " Of "]
        let found = try offenders(in: ["Sources", "Tests"], types: ["c", "h", "swift"] + Self.pageTypes) { _, line in
            beginnings.contains { line.contains($0) }
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test("no source file is longer than 600 lines")
    func fileLength() throws {
        let long = try ["Sources", "Tests"]
            .flatMap { try Self.files(below: $0, types: ["swift"] + Self.pageTypes) }
            .filter { $0.lines.count > 601 }
            .map { "\($0.path): \($0.lines.count) lines" }
        #expect(long.isEmpty, "\(long.joined(separator: "\n"))")
    }

    @Test("a file of each target begins with what lives in the target and what does not")
    func headers() throws {
        let files = FileManager.default
        let targets = try Self.directories.flatMap { directory in
            try files.contentsOfDirectory(atPath: Self.root.appending(path: directory).path)
                .filter { !Self.directories.contains("\(directory)/\($0)") }
                .filter { !$0.hasSuffix("Tests") && $0 != "CLibFuzzer" }
                .map { "\(directory)/\($0)" }
        }
        for target in targets {
            let base = Self.root.appending(path: target)
            let headers = try files.subpathsOfDirectory(atPath: base.path)
                .filter { name in [".swift", ".c", ".h"].contains { name.hasSuffix($0) } }
                .map { try String(contentsOf: base.appending(path: $0), encoding: .utf8) }
                .map { $0.split(separator: "\n", omittingEmptySubsequences: false) }
                .map { $0.prefix { $0.hasPrefix("// ") }.map { $0.dropFirst(3) } }
                .filter { $0.joined(separator: " ").contains("Not here:") }
            #expect(!headers.isEmpty && headers.allSatisfy { $0.count <= 3 }, "\(target)")
        }
    }

    @Test("a page of a door tells what each target is, and the index names every document")
    func documents() throws {
        let files = FileManager.default
        func names(in directory: String) throws -> [String] {
            try files.contentsOfDirectory(atPath: Self.root.appending(path: directory).path).sorted()
        }
        func text(_ path: String) throws -> String {
            try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
        }
        let doors = try names(in: "docs/doors").map { try text("docs/doors/" + $0) }.joined()
        for directory in Self.directories where directory.hasPrefix("Sources") {
            for target in try names(in: directory) where !Self.directories.contains("\(directory)/\(target)") {
                #expect(doors.contains("`\(target)`") || doors.contains("# \(target)\n"), "\(target)")
            }
        }
        let index = try text("docs/README.md")
        for page in try names(in: "docs") where page.hasSuffix(".md") && page != "README.md" {
            #expect(index.contains("(\(page))"), "\(page)")
        }
        let architecture = try text("ARCHITECTURE.md")
        for page in try names(in: "docs/doors") { #expect(architecture.contains("(docs/doors/\(page))"), "\(page)") }
    }

    @Test("files of pages neither name another origin nor build markup from text")
    func pages() throws {
        let banned = [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "https:",
            "//cdn",
        ]
        #expect(try Self.files(below: "Sources", types: Self.pageTypes).count > 30)
        let found = try offenders(types: Self.pageTypes) { _, line in
            banned.contains { line.contains($0) }
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test("no code is marked as unfinished")
    func unfinished() throws {
        let marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "not imple" + "mented"]
        let found = try offenders(in: ["Sources", "Tests"]) { _, line in
            marks.contains { line.contains($0) }
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test("the sources need no newer system than macOS 15 and iOS 18")
    func availability() throws {
        let newer = ["InlineArray", "UTF8Span", "Task.immediate", "isolated deinit"]
        // Which may have another way for each system.
        let found = try offenders { source, line in
            !source.path.contains("/Platform/") && newer.contains { line.contains($0) }
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test("'try?' says why nothing is lost, in its line or in the comment above")
    func silentErrors() throws {
        let found = try Self.files(below: "Sources").flatMap { source in
            source.lines.indices.filter { index in
                let line = source.lines[index]
                guard line.contains(" try? ") || line.contains("(try? "), !line.contains("//") else { return false }
                return index == 0 || !source.lines[index - 1].drop { $0 == " " }.hasPrefix("//")
            }.map { "\(source.path):\($0 + 1): \(source.lines[$0])" }
        }
        #expect(found.count <= 30, "\(found.count) do not:\n\(found.joined(separator: "\n"))")
    }

    @Test("what is declared is used")
    func uses() throws {
        // Called by frameworks: command types by 'main', handlers by NIO, members by a codec or a C table.
        let called: Set = [
            "Clip", "Kvs", "handlerAdded", "handlerRemoved", "channelWritabilityChanged", "documentation",
        ]
        let declaration = /\b(?:func|struct|class|enum|actor|protocol|typealias) +`?(\w+)/
        var counts: [Substring: Int] = [:]
        var declared: [Substring: String] = [:]
        for source in try ["Sources", "Tests", "Benchmarks", "Examples"].flatMap({ try Self.files(below: $0) }) {
            for line in source.lines {
                let code = line.drop { $0 == " " }
                guard !code.hasPrefix("//") else { continue }
                for word in code.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" }) {
                    counts[word, default: 0] += 1
                }
                guard source.path.hasPrefix("Sources"), !code.hasPrefix("public"), !code.hasPrefix("open"),
                    let match = code.firstMatch(of: declaration)
                else { continue }
                declared[match.1] = source.path
            }
        }
        let found = declared.filter { counts[$0.key] == 1 && !called.contains(String($0.key)) }
        #expect(found.isEmpty, "\(found)")
    }

    @Test("files and types have names of the field, not of convenience")
    func names() throws {
        let banned = ["Utils", "Utilities", "Helpers", "Helper", "Manager", "Misc", "Common"]
        let found = try Self.files(below: "Sources").map(\.path).filter { path in
            let name = path.split(separator: "/").last.map { $0.dropLast(6) } ?? ""
            return banned.contains { name.hasSuffix($0) }
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    /// Without one the parser asks the runtime for the type's name, which looks through all conformances of the program
    /// each time: a fifth of the time of 'kvs get' (decision 70).
    @Test("each command states its name")
    func commandNames() throws {
        let found = try Self.files(below: "Sources").flatMap { source in
            source.lines.indices.filter { index in
                source.lines[index].contains("= CommandConfiguration(")
                    && !source.lines[index...].prefix(2).contains { $0.contains("commandName: ") }
            }.map { "\(source.path):\($0 + 1)" }
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test("tests do not sleep to wait for a state")
    func sleeping() throws {
        let calls = ["Task.sle" + "ep", "Thread.sle" + "ep", "usle" + "ep("]
        let found = try offenders(in: ["Tests"]) { _, line in
            calls.contains { line.contains($0) } && !line.contains("// deadline")
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test("fixtures hold no secret")
    func fixtures() throws {
        let base = Self.root.appending(path: "fixtures")
        let names = try FileManager.default.subpathsOfDirectory(atPath: base.path)
        var found: [String] = []
        for name in names {
            guard let data = FileManager.default.contents(atPath: base.appending(path: name).path) else { continue }
            let text = String(decoding: data, as: UTF8.self)
            for mark in ["sk-", "sess-", "ghp_", "Bearer ey", "-----BEGIN"]
            where text.contains(mark) {
                found.append("\(name) contains \(mark)")
            }
        }
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }
}
