import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import KVStoreEmulator
import KVStoreServer

@Suite("Worlds of the emulator", .timeLimit(.minutes(5)))
struct WorldTests {
    @Test("nothing of a future clock remains after a reset or an import", arguments: [true, false])
    func futureClock(isReset: Bool) async throws {
        try await EmulatorClient.run { client in
            let year: Int64 = 365 * 86_400_000
            let future = ServerClock.wallMilliseconds() + year
            _ = try await client.administer(.put, "/worlds/w/clock", body: #"{"time":\#(future)}"#)
            try await client.put("ahead", "k", token: "w/phone")
            if isReset {
                _ = try await client.administer(.delete, "/worlds/w")
            } else {
                _ = try await client.administer(.put, "/worlds/w/clock", body: #"{"follow":true}"#)
                let imported = try await client.administer(
                    .put, "/worlds/w/export",
                    body: #"{"stores":[{"store":"s","values":[{"key":"k","type":"string","value":"v"}]}],"version":1}"#)
                try #require(imported.status == .ok, "\(imported.text)")
            }
            let stamp = StoreStamp(milliseconds: future - year / 2, counter: 0, replica: Samples.replica)
            let answer = try await client.sync([Samples.change("k", stamp)], token: "w/phone")
            guard case .clock? = answer.rejections.first?.reason else {
                Issue.record("accepted: \(answer)")
                return
            }
            let present = try await client.put("now", "k", token: "w/phone")
            #expect(try present.decoded(KeySummary.self).stamp.milliseconds < future - year / 2)
        }
    }

    @Test("worlds are listed with what they contain")
    func list() async throws {
        try await EmulatorClient.run { client in
            try await client.put("green", "color", token: "one/phone")
            try await client.put("7", "size", store: "t", token: "one/desk")
            _ = try await client.execute(.get, "/v1/me", token: "two/phone")
            let list = try await client.administer(.get, "/worlds")
            #expect(
                list.text == """
                    {"worlds":[{"byteCount":876,"connectedCount":0,"deviceCount":2,"keyCount":2,\
                    "storeCount":2,"world":"one"},{"byteCount":0,"connectedCount":0,"deviceCount":1,\
                    "keyCount":0,"storeCount":0,"world":"two"}]}
                    """)
            let one = try await client.administer(.get, "/worlds/one")
            let fields = try #require(try JSONSerialization.jsonObject(with: Data(one.text.utf8)) as? [String: Any])
            let devices = try #require(fields["devices"] as? [[String: Any]])
            #expect(devices.map { $0["device"] as? String } == ["desk", "phone"])
            let stores = try #require(fields["stores"] as? [[String: Any]])
            #expect(stores.map { $0["store"] as? String } == ["s", "t"])
            let unknown = try await client.administer(.get, "/worlds/three")
            #expect(unknown.status == .notFound && unknown.problemCode == "unknown-world")
        }
    }

    @Test("a reset empties one world, ends its streams with a reset and makes replicas start over")
    func reset() async throws {
        try await EmulatorClient.run { client in
            try await client.put("green", "color", token: "one/phone")
            try await client.put("green", "color", token: "two/phone")
            let before = try await client.sync(token: "one/phone")
            var one = try await client.stream("/v1/stores/s/changes", token: "one/phone")
            var two = try await client.stream("/v1/stores/s/changes?since=1", token: "two/phone")
            #expect(await one.nextEvent()?.name == "opened")
            #expect(await two.nextEvent()?.name == "opened")
            #expect(try await client.administer(.delete, "/worlds/one").status == .noContent)
            var last: EventReader.Event?
            while let event = await one.nextEvent() { last = event }
            #expect(last?.name == "reset")
            let after = try await client.sync(since: before.cursor, token: "one/phone")
            #expect(after.isInitial && after.changes.isEmpty)
            #expect(after.cursor.epoch != before.cursor.epoch)
            #expect(try await client.get("color", token: "one/phone") == nil)
            #expect(try await client.get("color", token: "two/phone") == "green")
            try await client.put("red", "color", token: "two/phone")
            #expect(await two.nextEvent()?.name == "change")
            // A test may reset a world before it uses it.
            #expect(try await client.administer(.delete, "/worlds/none").status == .noContent)
        }
    }

    @Test("a reset of all worlds forgets those that nobody is connected to")
    func resetAll() async throws {
        try await EmulatorClient.run { client in
            for world in ["one", "two"] { try await client.put("v", "k", token: world) }
            var reader = try await client.stream("/v1/stores/s/changes", token: "one")
            #expect(await reader.nextEvent()?.name == "opened")
            #expect(try await client.administer(.delete, "/worlds").status == .noContent)
            let list = try await client.administer(.get, "/worlds").text
            #expect(list.contains(#""world":"one""#) && !list.contains("two"))
            await reader.connection.close()
        }
    }

    /// One line for each value, sorted; with every type.
    private static let document = """
        {"stores":[
          {"store":"a","values":[]},
          {"store":"b","values":[
            {"key":"array","type":"array","value":[{"type":"integer","value":1},{"type":"string","value":"x"}]},
            {"key":"bool","type":"bool","value":true},
            {"key":"bytes","type":"bytes","value":"AP8="},
            {"key":"data","type":"data","value":"AAEC"},
            {"key":"date","type":"date","value":"2026-09-18T12:00:00Z"},
            {"key":"dictionary","type":"dictionary","value":{"a":{"type":"bool","value":false},"b":{"type":"double","value":0.5}}},
            {"key":"double","type":"double","value":1.5},
            {"key":"infinity","type":"double","value":"inf"},
            {"key":"integer","type":"integer","value":-9223372036854775808},
            {"key":"string \\"é\\" / \\\\","type":"string","value":"line\\nline"},
            {"key":"zero","type":"double","value":0},
            {"key":"é","type":"string","value":""}
          ]}
        ],"version":1}

        """

    @Test("an exported world is imported and exported again byte for byte")
    func roundTrip() async throws {
        try await EmulatorClient.run { client in
            let imported = try await client.administer(.put, "/worlds/one/export", body: Self.document)
            #expect(imported.text == #"{"keyCount":12,"storeCount":2,"world":"one"}"#)
            let exported = try await client.administer(.get, "/worlds/one/export")
            #expect(exported.text == Self.document)
            #expect(exported.headers[.contentType] == "application/json")
            _ = try await client.administer(.put, "/worlds/two/export", body: exported.text)
            #expect(try await client.administer(.get, "/worlds/two/export").text == Self.document)
            let text = try await client.get("%C3%A9", store: "b", token: "two")
            #expect(text == "")
        }
    }

    @Test("the same values give the same text in whatever order they were written")
    func stableText() async throws {
        try await EmulatorClient.run { client in
            let keys = (0..<20).map { "k\($0)" }
            for key in keys { try await client.put("v", key, token: "one") }
            for key in keys.reversed() { try await client.put("v", key, token: "two") }
            try await client.put("w", "k3", token: "two")
            try await client.put("v", "k3", token: "two")
            let one = try await client.administer(.get, "/worlds/one/export").text
            #expect(try await client.administer(.get, "/worlds/two/export").text == one)
        }
    }

    @Test("an import replaces the world, and replicas download it in full")
    func replacing() async throws {
        try await EmulatorClient.run { client in
            try await client.put("old", "gone", token: "one")
            try await client.put("old", "kept", token: "one")
            try await client.put("old", "k", store: "other", token: "one")
            let before = try await client.sync(token: "one")
            let document = #"""
                {"version":1,"stores":[{"store":"s","values":[
                {"key":"kept","type":"string","value":"new"}]}]}
                """#
            let imported = try await client.administer(.put, "/worlds/one/export", body: document)
            #expect(imported.status == .ok)
            let after = try await client.sync(since: before.cursor, token: "one")
            #expect(after.isInitial && after.changes.map(\.record.key.text) == ["kept"])
            let kept = try #require(after.changes.first?.record)
            let former = try #require(before.changes.map(\.record.stamp).max())
            #expect(kept.stamp > former)
            #expect(try await client.get("k", store: "other", token: "one") == nil)
        }
    }

    @Test("a document of kvs export is imported as one store")
    func exportOfKvs() async throws {
        try await EmulatorClient.run { client in
            let document = try ExportDocument(
                store: "s", exported: "2026-09-18T12:00:00Z", values: [.init(key: "color", value: .string("green"))]
            ).encoded()
            let imported = try await client.administer(
                .put, "/worlds/one/export", body: String(decoding: document, as: UTF8.self))
            #expect(imported.status == .ok)
            #expect(try await client.get("color", token: "one") == "green")
        }
    }

    @Test(
        "brackets, quotes and names within values, fields and spaces change nothing of an import",
        arguments: [
            #"{"stores":[%],"version":1}"#, #" { "version" : 1 , "stores" : [ % ] } "#,
            #"{"note":"stores","more":{"stores":[1,2]},"version":1,"stores":[%],"stores":[]}"#,
            #"{"a":["]}\"[{"],"stores":[%],"z":[[],{"values":[]}],"version":1}"#,
        ])
    func unusualText(form: String) async throws {
        let first = ##"{"store":"a","x":["values"],"values":[{"key":"]},{\"","type":"string","value":"[\\"}]}"##
        let second = #"{"values":[],"store":"b"}"#
        try await EmulatorClient.run { client in
            let answer = try await client.administer(
                .put, "/worlds/one/export", body: form.replacing("%", with: first + " ,\n" + second))
            #expect(answer.text == #"{"keyCount":1,"storeCount":2,"world":"one"}"#)
            #expect(
                try await client.administer(.get, "/worlds/one/export").text.contains(
                    #"{"key":"]},{\"","type":"string","value":"[\\"}"#))
        }
    }

    @Test(
        "an invalid document names what is wrong and changes nothing",
        arguments: [
            ("", "not JSON"), ("[]", "not JSON"), (#"{"version":1}"#, "not JSON"),
            (#"{"version":2,"stores":[]}"#, "unsupported version 2"),
            (#"{"version":1,"stores":[{"store":"../x","values":[]}]}"#, "'../x'"),
            (#"{"version":1,"stores":[{"store":"s","values":[]},{"store":"s","values":[]}]}"#, "store s appears twice"),
            (value(#"{"key":"k","type":"integer","value":"x"}"#), "store s: key k:"),
            (value(#"{"key":"k","type":"colour","value":"x"}"#), "store s: key k:"),
            (value(#"{"key":"k","type":"date","value":"yesterday"}"#), "store s: key k:"),
            (value(#"{"key":"k","type":"bytes","value":"%"}"#), "store s: key k:"),
            (
                value(#"{"key":"k","type":"bool","value":true},{"key":"k","type":"bool","value":true}"#),
                "store s: key k appears twice"
            ),
            (value(#"{"key":"","type":"bool","value":true}"#), "store s: key :"),
            (
                value(
                    #"{"key":"big","type":"string","value":"\#(String(repeating: "x", count: 1_100_000))"}"#
                ), "store s: key big:"
            ),
        ])
    func invalid(document: String, reason: String) async throws {
        try await EmulatorClient.run { client in
            try await client.put("green", "color", token: "one")
            let before = try await client.administer(.get, "/worlds/one/export").text
            let answer = try await client.administer(.put, "/worlds/one/export", body: document)
            #expect(answer.status == .badRequest && answer.problemCode == "invalid-import")
            #expect(answer.text.contains(reason), "\(answer.text)")
            #expect(try await client.administer(.get, "/worlds/one/export").text == before)
            #expect(try await client.get("color", token: "one") == "green")
        }
    }

    /// A document whose values are the deepest that a property list may have, and one more.
    @Test("a value that is nested too deeply is refused with its key")
    func depth() async throws {
        try await EmulatorClient.run { client in
            func document(_ depth: Int) -> String {
                let start = String(repeating: #"{"type":"array","value":["#, count: depth)
                return Self.value(
                    #"{"key":"k","type":"array","value":["# + start + String(repeating: "]}", count: depth) + "]}")
            }
            let limit = WireLimits.propertyListDepth
            let fitting = try await client.administer(.put, "/worlds/a/export", body: document(limit))
            #expect(fitting.status == .ok, "\(fitting.text)")
            for depth in [limit + 1, 100_000] {
                let answer = try await client.administer(.put, "/worlds/a/export", body: document(depth))
                #expect(answer.status == .badRequest && answer.problemCode == "invalid-import")
            }
        }
    }

    private static func value(_ text: String) -> String {
        #"{"version":1,"stores":[{"store":"s","values":[\#(text)]}]}"#
    }

    @Test("only the documented methods and paths exist")
    func routes() async throws {
        try await EmulatorClient.run { client in
            for path in ["/none", "/worlds/", "/worlds//export", "/worlds/a/b", "/events/x"] {
                let answer = try await client.administer(.get, path)
                #expect(answer.status == .notFound && answer.problemCode == "unknown-path", "\(path)")
            }
            for (method, path): (HTTPRequest.Method, String) in [
                (.post, "/worlds"), (.put, "/worlds/a"), (.delete, "/worlds/a/export"),
                (.delete, "/events"),
            ] {
                #expect(try await client.administer(method, path).status == .methodNotAllowed)
            }
            let name = try await client.administer(.get, "/worlds/%2F")
            #expect(name.status == .badRequest && name.problemCode == "bad-world-name")
        }
    }
}
