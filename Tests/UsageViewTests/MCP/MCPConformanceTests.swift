import Foundation
import SnapshotModels
import StoreTestSupport
import TestSupport
import Testing

@testable import usage_view

/// The Python that has it, as `scripts/bootstrap --tests` prepares it.
private let officialClient = Repository.root.appending(path: ".build/mcp/bin/python").path

/// Answers beside the protocol's own schemas, and the program beside the official client.
@Suite(
    "The protocol of agents as others see it", .temporaryHome, .timeLimit(.minutes(5)),
    .enabled(
        if: FileManager.default.isExecutableFile(atPath: officialClient),
        "the MCP client is not installed: scripts/bootstrap --tests"))
struct MCPConformanceTests {
    private static let script = Repository.root.appending(path: "scripts/check-mcp").path

    private static let requests = [
        ("server/discover", ""), ("ping", ""), ("tools/list", ""), ("resources/list", ""),
        ("resources/templates/list", ""),
        ("tools/call", #""name":"limits""#), ("tools/call", #""name":"limits","arguments":{"provider":"nope"}"#),
        ("tools/call", #""name":"cost""#), ("tools/call", #""name":"machines""#),
        ("tools/call", #""name":"wait_until_reset""#),
        ("tools/call", #""name":"nope""#), ("resources/read", #""uri":"usage://limits""#),
        ("resources/read", #""uri":"usage://cost""#), ("resources/read", #""uri":"usage://machines""#),
        ("resources/read", #""uri":"nope""#), ("nope", ""),
        ("tools/list", #""_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}"#),
    ]

    /// A line for the script.
    private func sample(_ era: MCPEra, _ method: String, _ answer: MCPDocument) throws -> Data {
        var sample: MCPDocument = ["version": era.rawValue, "answer": answer]
        if answer["error"] == nil { sample["method"] = method }
        return try JSONSerialization.data(withJSONObject: sample) + Data("\n".utf8)
    }

    @Test("every answer is one of the schema of its version")
    func schemas() async throws {
        let usage = InventedUsage()
        var account = usage.account("codex", [usage.window(1)])
        account.costSummary = SyncCostSummary(
            hourly: [SyncHourlyCost(hour: Int(usage.now.timeIntervalSince1970) / 3_600, totalTokens: 5, costUSD: 1)])
        var lines = Data()
        for era in MCPEra.allCases {
            for data in [usage.data(account), usage.several, usage.data()] {
                var sample = try MCPSample(data)
                let first = try sample.answer(era.opening)
                lines += try self.sample(era, era == .modern ? "server/discover" : "initialize", first)
                for (method, members) in Self.requests {
                    // An unsupported version is one of the modern era alone.
                    if members.contains("1900"), era == .legacy { continue }
                    let line =
                        members.contains("1900")
                        ? MCPEra.legacy.request(1, method, members) : era.request(1, method, members)
                    lines += try self.sample(era, method, try sample.answer(line))
                }
                for line in ["{", "[]", #"{"jsonrpc":"2.0","id":null,"method":"ping"}"#] {
                    lines += try self.sample(era, "", try sample.answer(line))
                }
            }
        }
        let count = lines.split(separator: UInt8(ascii: "\n")).count
        let outcome = try await TemporaryHome.ofTest.run(officialClient, [Self.script, "answers"], input: lines)
        #expect(
            outcome.status == 0 && outcome.text == "\(count) answers, 0 problems\n", "\(outcome.text)\(outcome.errors)")

        let broken = try sample(
            .modern, "tools/list", ["jsonrpc": "2.0", "id": 1, "result": ["tools": [MCPDocument]()]])
        #expect(
            try await TemporaryHome.ofTest.run(officialClient, [Self.script, "answers"], input: broken).status == 1)
    }

    @Test("the official client lists, calls and reads in both eras")
    func client() async throws {
        let home = TemporaryHome.ofTest
        let usage = InventedUsage(now: Date())
        // Reset already, so that a wait ends at once.
        var account = usage.account("codex", [usage.window(99, resetsIn: -1)])
        account.costSummary = SyncCostSummary(
            hourly: [SyncHourlyCost(hour: Int(usage.now.timeIntervalSince1970) / 3_600, totalTokens: 5, costUSD: 1)])
        try home.push(account, from: usage)
        let program = try #require(TemporaryHome.program("usage-view")).path
        let outcome = try await home.run(officialClient, [Self.script, "client", program])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let seen = try outcome.text.split(separator: "\n").map { try MCPDocument(parsing: Data($0.utf8)) }
        #expect(seen.map { $0["version"] as? String } == ["2026-07-28", "2025-11-25"])
        let tools = ["limits", "cost", "machines", "wait_until_reset"]
        for seen in seen {
            #expect(seen["server"] as? String == "usage-view")
            #expect(seen["tools"] as? [String] == tools && seen["readOnly"] as? Bool == true)
            #expect(
                seen["calls"] as? [String: Bool] == Dictionary(uniqueKeysWithValues: tools.map { ($0, true) }),
                "\(seen)")
            let resources = try #require(seen["resources"] as? [String: [String]])
            #expect(resources.keys.sorted() == ["usage://cost", "usage://limits", "usage://machines"])
            #expect(resources["usage://cost"] == ["schemaVersion", "spending"])
            #expect(seen["templates"] as? Int == 0 && seen["refusal"] as? Int == -32602)
        }
    }
}
