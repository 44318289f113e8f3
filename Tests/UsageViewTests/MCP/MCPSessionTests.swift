import Foundation
import Testing

@testable import usage_view

@Suite("Messages of agents")
struct MCPSessionTests {
    private static let deep = String(repeating: #"{"a":"#, count: 33) + "1" + String(repeating: "}", count: 33)

    @Test(
        "what is no request is refused without an id, and the next line is answered",
        arguments: [
            ("{", -32700), ("\0", -32700), ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", -32700),
            ("\u{FEFF}{}", -32700),
            ("[]", -32600), (#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600), ("1", -32600), ("null", -32600),
            ("\"x\"", -32600), ("{}", -32600), (#"{"id":1,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":1}"#, -32600), (#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600),
            (#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"# + deep + "}", -32600),
        ])
    func noRequests(line: String, code: Int) throws {
        var sample = try MCPSample()
        let answer = try sample.answer(line)
        #expect(answer["error", "code"] as? Int == code, "\(answer)")
        #expect(answer["id"] == nil && answer["result"] == nil)
        #expect(try sample.answer(#"{"jsonrpc":"2.0","id":"next","method":"ping"}"#)["id"] as? String == "next")
    }

    @Test("a line that is too long is refused")
    func longLine() throws {
        var session = MCPSession()
        guard case .answer(let answer) = session.receive(nil), case .error(let error) = answer.content else {
            Issue.record("no error")
            return
        }
        #expect(error.code == -32600 && answer.id == nil)
    }

    @Test(
        "a request that cannot be executed is refused with its id and the code of its reason",
        arguments: MCPEra.allCases,
        [
            ("nope", "", -32601), ("resources/subscribe", #""uri":"usage://limits""#, -32601),
            ("prompts/list", "", -32601),
            ("logging/setLevel", #""level":"debug""#, -32601),
            ("tools/list", #""cursor":"x""#, -32602), ("tools/list", #""_meta":1,"_meta":1"#, -32600),
            ("tools/call", "", -32602), ("tools/call", #""name":"nope""#, -32602), ("tools/call", #""name":5"#, -32602),
            ("tools/call", #""name":"limits","arguments":[]"#, -32602),
            ("tools/call", #""name":"limits","arguments":{"provider":5}"#, -32602),
            ("tools/call", #""name":"limits","arguments":{"provider":["codex"]}"#, -32602),
            ("tools/call", #""name":"limits","arguments":{"window":"5h"}"#, -32602),
            ("tools/call", #""name":"machines","arguments":{"provider":"codex"}"#, -32602),
            ("tools/call", #""name":"wait_until_reset","arguments":{"at_most_seconds":0}"#, -32602),
            ("tools/call", #""name":"wait_until_reset","arguments":{"at_most_seconds":3601}"#, -32602),
            ("tools/call", #""name":"wait_until_reset","arguments":{"at_most_seconds":"9"}"#, -32602),
            ("tools/call", #""name":"wait_until_reset","arguments":{"at_most_seconds":1.5}"#, -32602),
            ("tools/call", #""name":"wait_until_reset","arguments":{"at_most_seconds":1e30}"#, -32602),
            ("resources/read", "", -32602), ("resources/read", #""uri":"file:///etc/passwd""#, nil),
            ("resources/read", #""uri":"usage://wait_until_reset""#, nil),
        ] as [(String, String, Int?)])
    func refusals(era: MCPEra, request: (method: String, members: String, code: Int?)) throws {
        var sample = try MCPSample(opening: era)
        let answer = try sample.answer(era.request(7, request.method, request.members))
        #expect(answer["error", "code"] as? Int == request.code ?? (era == .modern ? -32602 : -32002), "\(answer)")
        #expect(answer["id"] as? Int == (request.code == -32600 ? nil : 7))
    }

    @Test("an argument has at most 200 characters")
    func longArguments() throws {
        var sample = try MCPSample(opening: .legacy)
        for count in [200, 201] {
            let answer = try sample.answer(
                MCPEra.legacy.call(1, "limits", #""provider":"\#(String(repeating: "ü", count: count))""#))
            #expect((answer["error"] == nil) == (count == 200))
        }
    }

    @Test(
        "nothing is said to what is no request, and to what asks for nothing",
        arguments: [
            "", " \r", #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            #"{"jsonrpc":"2.0","method":"nope"}"#,
            #"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
            #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}"#,
            #"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"limits"}}"#,
            #"{"jsonrpc":"2.0","id":1,"result":{}}"#, #"{"jsonrpc":"2.0","error":{"code":1,"message":""}}"#,
        ])
    func silence(line: String) throws {
        var sample = try MCPSample(opening: .legacy)
        #expect(try sample.line(line) == nil)
    }

    @Test("a cancellation names the request")
    func cancellation() throws {
        var session = MCPSession()
        for (id, expected) in [("3", MCPMessage.ID.number(3)), (#""x""#, .text("x"))] {
            let line =
                #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":\#(id),"reason":"r"}}"#
            guard case .cancel(let cancelled) = session.receive(Array(line.utf8)) else {
                Issue.record("nothing is cancelled")
                return
            }
            #expect(cancelled == expected)
        }
    }

    @Test(
        "initialize agrees on the client's version, or names the newest that begins so",
        arguments: [
            ("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2025-03-26", "2025-03-26"),
            ("2024-11-05", "2024-11-05"), ("2026-07-28", "2025-11-25"), ("1900-01-01", "2025-11-25"),
            ("", "2025-11-25"),
        ])
    func agreement(asked: String, agreed: String) throws {
        var sample = try MCPSample()
        let refused = try sample.answer(MCPEra.legacy.request(1, "tools/list"))
        #expect(refused["error", "code"] as? Int == -32602)
        let result = try sample.result(MCPEra.legacy.request(2, "initialize", #""protocolVersion":"\#(asked)""#))
        #expect(result["protocolVersion"] as? String == agreed)
        #expect(result["serverInfo", "name"] as? String == "usage-view")
        #expect(result["resultType"] == nil && result["_meta"] == nil)
        for method in ["ping", "tools/list", "resources/list", "resources/templates/list"] {
            let result = try sample.result(MCPEra.legacy.request(3, method))
            #expect(Set(result.keys).isDisjoint(with: ["resultType", "ttlMs", "cacheScope", "_meta"]), "\(method)")
        }
        #expect(
            try sample.answer(#"{"jsonrpc":"2.0","id":4,"method":"initialize"}"#)["error", "code"] as? Int == -32602)
    }

    @Test("a request of 2026-07-28 says its version itself, also beside the others")
    func versions() throws {
        var sample = try MCPSample()
        let discovered = try sample.result(MCPEra.modern.request(1, "server/discover"))
        let versions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
        #expect(discovered["supportedVersions"] as? [String] == versions)
        _ = try sample.result(MCPEra.legacy.opening)
        for method in ["server/discover", "tools/list", "resources/list", "resources/templates/list"] {
            let result = try sample.result(MCPEra.modern.request(2, method))
            #expect(result["resultType"] as? String == "complete")
            #expect(result["ttlMs"] as? Int == 3_600_000 && result["cacheScope"] as? String == "private")
            #expect(
                result["_meta", "io.modelcontextprotocol/serverInfo", "name"] as? String == "usage-view", "\(method)")
        }
        #expect(try sample.answer(MCPEra.modern.request(3, "ping"))["error", "code"] as? Int == -32601)
        #expect(try sample.result(MCPEra.legacy.request(4, "ping")).isEmpty)

        let key = "io.modelcontextprotocol/protocolVersion"
        for (metadata, code) in [
            (#"{"\#(key)":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}"#, -32022),
            (#"{"\#(key)":"2025-11-25"}"#, -32022), (#"{"\#(key)":"2026-07-28"}"#, -32602), (#"{"\#(key)":5}"#, -32602),
        ] {
            let answer = try sample.answer(MCPEra.legacy.request(5, "tools/list", #""_meta":\#(metadata)"#))
            #expect(answer["error", "code"] as? Int == code, "\(answer)")
            if code == -32022 { #expect(answer["error", "data", "supported"] as? [String] == versions) }
        }
        let requested = try sample.answer(
            MCPEra.legacy.request(6, "server/discover", #""_meta":{"\#(key)":"1900-01-01"}"#))
        #expect(requested["error", "data", "requested"] as? String == "1900-01-01")
        #expect(try sample.answer(MCPEra.legacy.request(7, "server/discover"))["error", "code"] as? Int == -32602)
    }

    @Test("the tools are those four in this order, and only read", arguments: MCPEra.allCases)
    func tools(era: MCPEra) throws {
        var sample = try MCPSample(opening: era)
        let tools = try #require(try sample.result(era.request(1, "tools/list"))["tools"] as? [MCPDocument])
        #expect(tools.compactMap { $0["name"] as? String } == ["limits", "cost", "machines", "wait_until_reset"])
        for tool in tools {
            #expect(tool["annotations", "readOnlyHint"] as? Bool == true)
            #expect(tool["inputSchema", "additionalProperties"] as? Bool == false)
        }
        let resources = try #require(try sample.result(era.request(1, "resources/list"))["resources"] as? [MCPDocument])
        #expect(
            resources.compactMap { $0["uri"] as? String } == ["usage://limits", "usage://cost", "usage://machines"])
    }
}
