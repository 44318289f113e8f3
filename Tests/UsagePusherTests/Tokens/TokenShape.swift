import Foundation
import Testing

@testable import UsagePusher

/// A shape of a tool's log, and what is counted of it. docs/log-shapes.md says where it was seen.
struct TokenShape: CustomTestStringConvertible, Sendable {
    /// The sentence that must hold.
    let testDescription: String
    let provider: String
    /// Lines by path in the home directory.
    private(set) var files: [(path: String, lines: [String])]
    /// As `TokenUsage.lines` writes them.
    let lines: [String]

    /// Shapes as a `ShapeTable` has them, whose lines are of the file that a line "@ PATH" names.
    ///
    /// - Parameter path: of the lines before such a line.
    static func table(of provider: String, at path: String, _ text: String) -> [TokenShape] {
        ShapeTable(text).rows.map { row in
            var shape = TokenShape(
                testDescription: "\(provider): \(row.sentence)", provider: provider, files: [(path, [])],
                lines: row.results)
            for line in row.lines {
                if line.hasPrefix("@ ") {
                    shape.files.append((String(line.dropFirst(2)), []))
                } else {
                    shape.files[shape.files.count - 1].lines.append(line)
                }
            }
            shape.files.removeAll { $0.lines.isEmpty }
            return shape
        }
    }

    /// Reads the files in one go, and logs line by line as they are written.
    func check() throws {
        let whole = try SampleHome()
        for (path, lines) in files { try whole.write(path, lines.joined(separator: "\n") + "\n") }
        #expect(whole.tokens(of: provider) == lines)
        guard files.allSatisfy({ $0.path.hasSuffix(".jsonl") }) else { return }
        let (growing, state) = try (SampleHome(), SampleHome())
        for (path, lines) in files {
            try growing.write(path, "")
            for (index, line) in lines.enumerated() {
                try growing.append(path, line + "\n", modified: sampleNow + Double(index))
                _ = growing.tokens(of: provider, keepingIn: state)
            }
        }
        #expect(growing.tokens(of: provider, keepingIn: state) == lines)
    }
}
