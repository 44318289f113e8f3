import Foundation
import TestSupport
import Testing

@Suite("What shells complete after 'ubq'", .temporaryHome, .timeLimit(.minutes(1)))
struct CompletionTests {
    private let home = TemporaryHome.ofTest

    /// What bash offers for the last word of the line, sorted.
    private func completed(_ line: String) async throws -> [String] {
        let directory = try #require(TemporaryHome.program("ubq")).deletingLastPathComponent().path
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let script = """
            PATH="\(directory):$PATH"
            eval "$(ubq --generate-completion-script bash)"
            COMP_WORDS=(\(words.dropLast().joined(separator: " ")) '\(words[words.count - 1])')
            COMP_CWORD=\(words.count - 1); COMP_LINE='\(line)'; COMP_POINT=${#COMP_LINE}
            _ubq ubq '\(words[words.count - 1])' '\(words[words.count - 2])'
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let outcome = try await home.run("/bin/bash", ["-c", script])
        #expect(outcome.errors.isEmpty, "\(outcome.errors)")
        return outcome.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.sorted()
    }

    @Test("bash completes 'ubq view' as it completes usage-view, with keys and names that are stored here")
    func bash() async throws {
        for key in ["alpha", "beta"] { #expect(try await home.kvs("set", key, "1").status == 0) }
        #expect(try await completed("ubq k") == ["kvs"])
        #expect(try await completed("ubq d") == ["daemon", "doctor", "down"])
        #expect(try await completed("ubq up --no-c") == ["--no-codes"])
        #expect(try await completed("ubq view st") == ["status"])
        #expect(try await completed("ubq view status --format p") == ["plain", "polybar"])
        #expect(try await completed("ubq push alerts en") == ["enable"])
        #expect(try await completed("ubq daemon serve --list").contains("--listen"))
        #expect(try await completed("ubq kvs get a") == ["alpha"])
        let options = try await completed("ubq view --")
        #expect(options.contains("--watch") && !options.contains("--fix"), "\(options)")
    }

    @Test("zsh and fish are told which program completes each name", arguments: ["zsh", "fish"])
    func others(shell: String) async throws {
        let script = try await home.run("ubq", ["--generate-completion-script", shell])
        for program in ["usage-view", "usage-push", "kvsd", "ubiquity-clip", "ubiquity-link"] {
            #expect(script.text.contains(program), "\(program)")
        }
        #expect(try await home.run("ubq", ["--generate-completion-script", "csh"]).status == 64)
    }
}
