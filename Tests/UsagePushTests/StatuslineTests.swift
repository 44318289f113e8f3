import Foundation
import TestSupport
import Testing

@Suite("usage-push claude-statusline", .temporaryHome, .timeLimit(.minutes(5)))
struct StatuslineTests {
    private let home = TemporaryHome.ofTest

    @Test("the command receives the whole input, also more than a pipe holds")
    func largeInput() async throws {
        let input = Data((0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        for command in [["cat"], ["sh", "-c", "cat"]] {
            let outcome = try await home.run("usage-push", ["claude-statusline", "--"] + command, input: input)
            #expect(outcome.status == 0 && outcome.output == input)
        }
    }

    @Test(
        "a command that does not read, fails or is missing changes neither status nor output",
        arguments: [
            ("echo out", "out\n"), ("head -c 3", "xxx"), ("exec <&-; echo out", "out\n"), ("echo out; exit 7", "out\n"),
            ("echo out; kill -KILL $$", "out\n"), ("/nonexistent/command", ""),
        ])
    func unhelpful(command: String, output: String) async throws {
        let input = Data(repeating: UInt8(ascii: "x"), count: 1 << 20)
        let outcome = try await home.run("usage-push", ["claude-statusline", "--", command], input: input)
        #expect(outcome.status == 0 && outcome.text == output)
    }

    @Test("several arguments are a program and its arguments, not a shell command")
    func arguments() async throws {
        let outcome = try await home.run(
            "usage-push", ["claude-statusline", "--", "printf", "<%s>", "a  b", "$HOME", "'"], input: Data("{}".utf8))
        #expect(outcome.text == "<a  b><$HOME><'>")
    }

    @Test(
        "the command stays in the process group of the status line",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/stat")))
    func processGroup() async throws {
        let outcome = try await home.run(
            "usage-push", ["claude-statusline", "--", "cut -d ' ' -f 5 /proc/$$/stat /proc/$PPID/stat"])
        let groups = outcome.text.split(separator: "\n")
        #expect(groups.count == 2 && Set(groups).count == 1)
    }
}
