import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// The commands of the README, run in its order by a person with two machines.
@Suite("The README", .timeLimit(.minutes(10)), .enabled(if: SSHMachine.isPossible, "sshd is not on this machine"))
struct ReadmeTests {
    /// The lines of blocks of commands, without comments.
    private static func commands() throws -> [[String]] {
        let text = try String(contentsOf: Repository.root.appending(path: "README.md"), encoding: .utf8)
        var blocks: [[String]] = []
        var language: Substring?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                language = language == nil ? line.dropFirst(3) : nil
                if language == "" { blocks.append([]) }
            } else if language == "" {
                let command = line.split(separator: "#", omittingEmptySubsequences: false)[0]
                blocks[blocks.count - 1].append(command.trimmingCharacters(in: .whitespaces))
            }
        }
        return blocks
    }

    @Test("each command of a block does what it says on a machine with nothing but the programs")
    func blocks() async throws {
        let here = try DoorHome(percent: 36)
        let box = try await SSHMachine(knownTo: here)
        let port = try DoorHome.port()
        var seen = 0
        for line in try Self.commands().flatMap({ $0 }) where !line.isEmpty {
            var words = line.split(separator: " ").map(String.init)
            let program = words.removeFirst()
            // What asks a person is answered, what does not end is looked at, and files are those of the home.
            if words.first == "up" { words += ["--yes", "--port", "\(port)"] }
            if ["add", "leave"].contains(words.first) { words.append("--yes") }
            words = words.map { $0.hasSuffix(".json") ? "\(here.home.path)/\($0)" : $0 }
            seen += 1
            guard !words.contains("--watch") else {
                let program = try RunningProgram(here.home, program, words + ["--plain"])
                #expect(await program.output.first { $0.contains("71 % used") } != nil, "\(line)")
                continue
            }
            let outcome = try await here.home.run(program, words)
            #expect(outcome.status == 0, "\(line): \(outcome.errors) \(outcome.text)")
            if line == "ubq" { #expect(outcome.text.contains("71 % used"), "\(outcome.text)") }
        }
        #expect(seen >= 13)
        #expect(try await box.home.home.run("usage-view", []).text.contains("71 % used"))
        #expect(try await here.ubq("down", "--yes").status == 0)
    }

    @Test("the scripts that it names are run by .ci/run or install the programs")
    func scripts() throws {
        func text(_ name: String) throws -> String {
            try String(contentsOf: Repository.root.appending(path: name), encoding: .utf8)
        }
        let (readme, checks) = (try text("README.md"), try text(".ci/run") + text("scripts/package"))
        let names = Set(readme.matches(of: /scripts\/[a-z-]+/).map { String($0.0) })
        #expect(names.count >= 4)
        for name in names { #expect(checks.contains(name), "\(name)") }
    }
}
