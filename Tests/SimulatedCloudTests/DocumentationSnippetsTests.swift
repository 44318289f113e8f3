import Foundation
import Testing

@Suite("Snippets of the documentation")
struct DocumentationSnippetsTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The texts of a directory's files by their names.
    private func texts(in directory: String, where isIncluded: (String) -> Bool) throws -> [String: String] {
        let base = Self.root.appending(path: directory)
        let names = try FileManager.default.contentsOfDirectory(atPath: base.path)
        return try Dictionary(
            uniqueKeysWithValues: names.filter(isIncluded).map { name in
                (name, try String(contentsOf: base.appending(path: name), encoding: .utf8))
            })
    }

    private func withoutWhitespace(_ text: String) -> String { text.filter { !$0.isWhitespace } }

    /// The text between "```swift" and "```".
    private func snippets(of page: String) -> [String] {
        page.components(separatedBy: "```swift\n").dropFirst().map { rest in
            rest.components(separatedBy: "\n```")[0]
        }
    }

    @Test("every snippet is compiled and run", arguments: ["KVStore", "Testing/KVStoreTesting"])
    func compiled(library: String) throws {
        let isCompiled = { (name: String) in name.hasPrefix("DocumentationSnippets") }
        // Those that need the network are where its tests are.
        let code = try ["SimulatedCloudTests", "KVStoreHTTPTests"].flatMap {
            try texts(in: "Tests/" + $0, where: isCompiled).values.map(withoutWhitespace)
        }
        let pages = try texts(in: "Sources/\(library)/Documentation.docc") { $0.hasSuffix(".md") }
        #expect(pages.values.contains { !snippets(of: $0).isEmpty })
        for (page, text) in pages {
            for snippet in snippets(of: text) {
                let isFound = code.contains { $0.contains(withoutWhitespace(snippet)) }
                #expect(isFound, "\(page): add to DocumentationSnippets*.swift, or mend:\n\(snippet)")
            }
        }
    }
}
