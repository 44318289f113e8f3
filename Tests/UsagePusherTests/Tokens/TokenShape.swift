import Foundation
import Testing

@testable import UsagePusher

/// A shape of a tool's log, and what is counted of it. docs/log-shapes.md says where it was seen.
struct TokenShape: CustomTestStringConvertible, Sendable {
    /// The sentence that must hold.
    let testDescription: String
    let provider: String
    /// Contents by path in the home directory.
    let files: KeyValuePairs<String, String>
    /// As `TokenUsage.lines` writes them.
    let lines: [String]

    init(_ sentence: String, of provider: String, _ files: KeyValuePairs<String, String>, counts lines: [String]) {
        testDescription = sentence
        self.provider = provider
        self.files = files
        self.lines = lines
    }

    func check() throws {
        let home = try SampleHome()
        for (path, text) in files { try home.write(path, text) }
        #expect(home.tokens(of: provider) == lines)
    }
}
