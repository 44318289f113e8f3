import Foundation
import SnapshotModels
import TestSupport
import Testing

@testable import usage_view

@Suite("The server for agents as a program", .temporaryHome, .timeLimit(.minutes(5)))
struct MCPProgramTests {
    private let usage = InventedUsage(now: Date())

    private func home(_ providers: ProviderUsageSnapshot...) throws -> TemporaryHome {
        let home = TemporaryHome.ofTest
        for provider in providers { try home.push(provider, from: usage) }
        return home
    }

    private func codex(_ percent: Double, resetsIn minutes: Double? = 600) -> ProviderUsageSnapshot {
        usage.account("codex", [usage.window(percent, resetsIn: minutes)])
    }

    private func used(_ result: MCPDocument) -> Double? {
        let providers = result["structuredContent", "providers"] as? [MCPDocument]
        return (providers?.first?["windows"] as? [MCPDocument])?.first?["usedPercent"] as? Double
    }

    @Test(
        "limits are those of --json, and the next request sees what another program has pushed",
        arguments: MCPEra.allCases)
    func limits(era: MCPEra) async throws {
        let home = try home(codex(40, resetsIn: nil))
        let client = try await MCPClient(home, opening: era)
        let result = try await client.result(era.call(1, "limits"))
        #expect(used(result) == 40)
        func withoutTimes(_ document: MCPDocument) -> NSDictionary {
            var document = document.filter { $0.key != "generatedAt" }
            for list in ["devices", "providers"] {
                document[list] = (document[list] as? [MCPDocument])?.map { $0.filter { $0.key != "ageSeconds" } }
            }
            return document as NSDictionary
        }
        let printed = try MCPDocument(parsing: try await home.run("usage-view", ["--json"]).output)
        #expect(withoutTimes(try #require(result["structuredContent"] as? MCPDocument)) == withoutTimes(printed))
        try home.push(codex(41, resetsIn: nil), from: usage)
        #expect(used(try await client.result(era.call(2, "limits"))) == 41)
        let end = try await client.end()
        #expect(end.lines.isEmpty && end.status == 0)
    }

    @Test("input that ends is answered to its last line, which may have no end; one that is too long is refused")
    func input() async throws {
        let home = try home(codex(40))
        let ping = #"{"jsonrpc":"2.0","id":ID,"method":"ping"}"#
        let long = #"{"jsonrpc":"2.0","id":9,"method":""# + String(repeating: "x", count: MCPSession.lineLimit) + #""}"#
        let lines = ["1", "2", "3"].map { ping.replacing("ID", with: $0) }
        let text = lines[0] + "\r\n\n" + long + "\n" + lines[1] + "\n\u{0}\n" + lines[2]
        let outcome = try await home.run("usage-view", ["mcp"], input: Data(text.utf8))
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        let answers = try outcome.text.split(separator: "\n").map { try MCPDocument(parsing: Data($0.utf8)) }
        #expect(answers.map { $0["id"] as? Int } == [1, nil, 2, nil, 3])
        #expect(answers.map { $0["error", "code"] as? Int } == [nil, -32600, nil, -32700, nil])
        let nothing = try await home.run("usage-view", ["mcp"])
        #expect(nothing.status == 0 && nothing.output.isEmpty && nothing.errors.isEmpty)
    }

    @Test("without usage the next step is named, and a replica that cannot be opened is an error in the answer")
    func unusable() async throws {
        let home = try home()
        let client = try await MCPClient(home, opening: .modern)
        #expect(try await client.result(MCPEra.modern.call(1, "limits")).text.contains("usage-push"))
        #expect(try await client.result(MCPEra.modern.call(2, "wait_until_reset"))["isError"] as? Bool == true)
        #expect(try await client.end().status == 0)

        try FileManager.default.removeItem(atPath: home.path + "/.local")
        try home.file(".local/share", "no directory")
        let other = try await MCPClient(home, opening: .modern)
        let result = try await other.result(MCPEra.modern.call(1, "limits"))
        #expect(result["isError"] as? Bool == true && !result.text.isEmpty)
        try other.send(MCPEra.modern.request(2, "resources/read", #""uri":"usage://limits""#))
        #expect(try await other.answer()["error", "code"] as? Int == -32603)
        #expect(try await other.end().status == 0)
    }

    @Test("other requests are answered during a wait, and the end of the input ends it", arguments: MCPEra.allCases)
    func duringWait(era: MCPEra) async throws {
        let client = try await MCPClient(try home(codex(40)), opening: era)
        try client.send(era.call(1, "wait_until_reset"))
        #expect(used(try await client.result(era.call(2, "limits"))) == 40)
        let end = try await client.end()
        #expect(end.lines.isEmpty && end.status == 0)
    }

    @Test("a wait ends at the reset, and one that was cancelled is not answered")
    func reset() async throws {
        let client = try await MCPClient(try home(codex(99, resetsIn: 0.1)), opening: .legacy)
        let wait = MCPEra.legacy.call(1, "wait_until_reset", #""provider":"codex""#)
        try client.send(wait)
        try client.send(wait)
        #expect(try await client.answer()["error", "code"] as? Int == -32600, "two requests with one id")
        try client.send(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        // The id is free again.
        let result = try await client.result(wait)
        #expect(result["structuredContent", "isReset"] as? Bool == true, "\(result)")
        #expect(Date() >= usage.now.addingTimeInterval(5))
        #expect(try await client.result(MCPEra.legacy.call(2, "machines"))["isError"] as? Bool == false)
        #expect(try await client.end().lines.isEmpty)
    }

    @Test("a wait ends when its time is up, and when a new number shows that the limit was reset")
    func waitEnds() async throws {
        let home = try home(codex(90))
        let client = try await MCPClient(home, opening: .modern)
        let result = try await client.result(MCPEra.modern.call(1, "wait_until_reset", #""at_most_seconds":1"#))
        #expect(result["structuredContent", "isReset"] as? Bool == false, "\(result)")

        try client.send(MCPEra.modern.call(2, "wait_until_reset"))
        let pushing = Task {
            // Whenever the wait begins, the next number is one of a later window.
            var step = 1.0
            while !Task.isCancelled {
                try home.push(codex(90 - step / 1_000, resetsIn: 600 + step * 10), from: usage)
                step += 1
            }
        }
        let answer = try await client.answer()
        pushing.cancel()
        try await pushing.value
        #expect(answer["id"] as? Int == 2 && answer["result", "structuredContent", "isReset"] as? Bool == true)
        #expect(try await client.end().status == 0)
    }

    @Test("17 waits at once are one too many, until one is cancelled")
    func manyWaits() async throws {
        let client = try await MCPClient(try home(codex(40)), opening: .legacy)
        for id in 1...16 { try client.send(MCPEra.legacy.call(id, "wait_until_reset")) }
        let refused = try await client.result(MCPEra.legacy.call(17, "wait_until_reset"))
        #expect(refused["isError"] as? Bool == true && refused.text.contains("16 waits"))
        try client.send(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":16}}"#)
        try client.send(MCPEra.legacy.call(17, "wait_until_reset"))
        #expect(try await client.result(MCPEra.legacy.request(18, "ping")).isEmpty)
        let end = try await client.end()
        #expect(end.lines.isEmpty && end.status == 0)
    }

    @Test("SIGTERM ends it, also during a wait")
    func termination() async throws {
        let client = try await MCPClient(try home(codex(40)), opening: .modern)
        try client.send(MCPEra.modern.call(1, "wait_until_reset"))
        #expect(used(try await client.result(MCPEra.modern.call(2, "limits"))) == 40)
        client.terminate()
        #expect(await client.status() == -SIGTERM)
    }

    @Test("it ends silently when nobody reads its answers, and with a status if they cannot be written")
    func output() async throws {
        let home = try home(codex(40))
        let input = Data((MCPEra.modern.opening + "\n").utf8)
        let closed = try await home.run("usage-view", ["mcp"], input: input, redirection: .closedPipe)
        #expect(closed.status == 0 && closed.errors.isEmpty)
        #expect(try await home.run("usage-view", ["mcp"], input: input, redirection: .fullOutput).status == 74)
    }
}
