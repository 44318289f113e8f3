import Foundation
import StoreTestSupport
import Testing

/// The examples of the libraries, on pages and in comments of their sources. Files of tests whose names begin with
/// DocumentationSnippets contain and run them.
@Suite("Snippets of the documentation")
struct DocumentationSnippetsTests {
    /// The libraries and the modules that they re-export.
    private static let modules = [
        "KVStore", "SnapshotModels", "UsagePusher", "Server/KVStoreServer", "Store/KVStoreCore",
        "Store/KVStoreEssentials", "Store/KVStoreHTTP", "Store/KVStoreSealed", "Store/KVStoreSimulation",
        "Store/KVStoreWire", "Testing/KVStoreEmulator", "Testing/KVStoreTesting",
    ]

    /// The lines of a directory's files by their paths.
    private static func files(
        below directory: String, where isIncluded: (String) -> Bool
    ) throws -> [(path: String, lines: [Substring])] {
        let base = Repository.root.appending(path: directory).path
        return try FileManager.default.subpathsOfDirectory(atPath: base).filter(isIncluded).map { name in
            let text = try Repository.text("\(directory)/\(name)")
            return ("\(directory)/\(name)", text.split(separator: "\n", omittingEmptySubsequences: false))
        }
    }

    private static func withoutWhitespace(_ text: String) -> String { text.filter { !$0.isWhitespace } }

    /// What is between "```swift" and "```" on a page, or in the comments of a source file.
    private static func snippets(_ path: String, _ lines: [Substring]) -> [String] {
        let isPage = path.hasSuffix(".md")
        let text = lines.lazy.map { $0.drop { $0 == " " } }.filter { isPage || $0.hasPrefix("///") }
            .map { isPage ? $0 : $0.dropFirst(3).drop { $0 == " " } }.joined(separator: "\n")
        return text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "\n```")[0] }
    }

    @Test("every snippet is compiled and run", arguments: modules)
    func compiled(module: String) throws {
        let code = try Self.files(below: "Tests") {
            let name = $0.split(separator: "/").last ?? ""
            return name.hasPrefix("DocumentationSnippets") && name != "DocumentationSnippetsTests.swift"
        }.map { Self.withoutWhitespace($0.lines.joined()) }
        let sources = try Self.files(below: "Sources/\(module)") { $0.hasSuffix(".swift") || $0.hasSuffix(".md") }
        let found = sources.flatMap { file in Self.snippets(file.path, file.lines).map { (file.path, $0) } }
        #expect(!found.isEmpty)
        for (path, snippet) in found {
            let isRun = code.contains { $0.contains(Self.withoutWhitespace(snippet)) }
            #expect(isRun, "\(path): add to DocumentationSnippets*.swift, or mend:\n\(snippet)")
        }
    }

    @Test("every public type has an example, or names the type whose example shows it")
    func types() throws {
        let declaration = /(?:public|open) (?:final |indirect )?(?:struct|class|enum|actor|protocol) (\w+)/
        var comments: [(type: Substring, text: String)] = []
        for module in Self.modules {
            for (path, lines) in try Self.files(below: "Sources/\(module)", where: { $0.hasSuffix(".swift") }) {
                var comment = ""
                for line in lines {
                    // There, what is at the top stands inside a condition.
                    let code = path.contains("/Platform/") && line.hasPrefix("    ") ? line.dropFirst(4) : line
                    if code.hasPrefix("///") {
                        comment += code + "\n"
                    } else {
                        if let match = code.prefixMatch(of: declaration) { comments.append((match.1, comment)) }
                        comment = ""
                    }
                }
            }
        }
        let shown = Set(comments.filter { $0.text.contains("```swift\n") }.map(\.type))
        #expect(shown.contains("UbiquitousKeyValueStore"))
        for (type, text) in comments where !shown.contains(type) {
            let named = text.firstMatch(of: /For an example see `(\w+)`\./)?.1
            #expect(named.map { shown.contains($0) } == true, "\(type): add an example, or name a type that has one")
        }
    }
}
