import TestSupport
import Testing

@Suite("kvsd account remove on a terminal", .timeLimit(.minutes(5)))
struct AccountRemovalTests {
    @Test("it says what will be removed, and removes it only after a yes")
    func asks() async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        func kvsd(_ arguments: String...) async throws -> TemporaryHome.Outcome {
            try await home.run("kvsd", arguments)
        }
        #expect(try await kvsd("account", "add", "family").status == 0)
        #expect(try await kvsd("device", "add", "phone", "--account", "family").status == 0)
        for (answer, isRemoved) in [("\n", false), ("n\n", false), ("yes\n", true)] {
            let terminal = try PseudoTerminal()
            defer { terminal.closeBoth() }
            let removal = try RunningProgram(home, "kvsd", ["account", "remove", "family"], terminal: terminal)
            let question = await terminal.wait(toSee: "Remove? [y/N]")
            #expect(question.contains("devices  phone"))
            terminal.type(answer)
            await terminal.wait(toSee: isRemoved ? "Removed the account" : "Nothing was changed.")
            #expect(await removal.status() == 0)
            #expect(try await kvsd("account", "list").text.contains("family") != isRemoved)
        }
    }
}
