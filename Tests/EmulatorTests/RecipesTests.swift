import Foundation
import TestSupport
import ServerTestSupport
import Testing

/// The transcripts of `docs/emulator-recipes.md`, with the built programs.
@Suite("Recipes of docs/emulator-recipes.md", .timeLimit(.minutes(5)))
struct RecipesTests {
    @Test("every command of a recipe prints what its transcript shows")
    func transcripts() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let programs = try #require(TemporaryHome.program("kvsd")).deletingLastPathComponent().path
        let emulator = try RunningProgram(home, "kvsd", ["emulator", "--port", "0"])
        var worlds: Substring?
        for await line in emulator.errors {
            worlds = line.firstMatch(of: /listening on (http:\/\/127\.0\.0\.1:\d+)/)?.1
            if worlds != nil { break }
        }
        let url = try #require(worlds)
        var commandCount = 0
        for recipe in Self.recipes(try HTTPExamples("docs/emulator-recipes.md").text()) {
            for (command, expected) in recipe {
                let outcome = try await home.run(
                    "/bin/bash",
                    [
                        "-c",
                        """
                        export PATH='\(programs)':$PATH UBIQUITY_DAEMON=\(url)
                        export WORLDS=\(url)/emulator/v1/worlds
                        cd "$HOME"; exec 2>&1
                        \(command)
                        """,
                    ])
                commandCount += 1
                #expect(Self.matches(expected, outcome.text), "\(command)\n\(outcome.text)")
            }
        }
        #expect(commandCount > 20)
    }

    /// The commands of each block, with the lines that they print.
    private static func recipes(_ text: String) -> [[(command: String, expected: String)]] {
        text.components(separatedBy: "```console\n").dropFirst().map { block in
            let transcript = block.components(separatedBy: "\n```")[0]
            return ("\n" + transcript).components(separatedBy: "\n$ ").dropFirst().map { part in
                let lines = part.split(separator: "\n", maxSplits: 1)
                return (String(lines[0]), lines.count > 1 ? String(lines[1]) : "")
            }
        }
    }

    /// Whether the texts are equal where the expected one has no "…".
    private static func matches(_ expected: String, _ found: String) -> Bool {
        let pattern = expected.split(separator: "…", omittingEmptySubsequences: false)
            .map { NSRegularExpression.escapedPattern(for: String($0)) }
            .joined(separator: "[^\n]*?")
        return found.range(of: "^" + pattern + "\n?$", options: .regularExpression) != nil
    }
}
