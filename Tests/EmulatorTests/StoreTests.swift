import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreEmulator
import KVStoreServer
import KVStoreWire
import ServerTestSupport
import Testing

@Suite("Stores and keys of the emulator", .timeLimit(.minutes(5)))
struct StoreTests {
    private static let start = "/worlds/w/stores/s"

    @Test("a device listens to a store that nobody has written yet")
    func unwritten() async throws {
        try await EmulatorClient.run { client in
            var reader = try await client.stream("/v1/stores/s/changes", token: "w/desk")
            let opened = await reader.nextEvent()
            #expect(opened?.name == "opened" && opened?.fields["cursor"] as? Int == 0)
            try await client.put("green", "color", token: "w/phone")
            let change = await reader.nextEvent()
            #expect(change?.name == "change" && change?.fields["key"] as? String == "color")
            #expect(try await client.get("color", token: "w/desk") == "green")
            let invalid = try await client.execute(.get, "/v1/stores/.s/changes", token: "w/desk")
            #expect(invalid.problemCode == "bad-store-name")
            let unread = try await client.execute(.get, "/v1/stores/t/keys", token: "w/desk")
            #expect(unread.problemCode == "unknown-store")
        }
    }

    @Test("a store is listed with typed values, removals and writers, sorted by key")
    func list() async throws {
        try await EmulatorClient.run { client in
            for key in ["b", "a", "old"] { try await client.put("v", key, token: "w/phone") }
            _ = try await client.execute(.delete, "/v1/stores/s/keys/old", token: "w/desk")
            _ = try await client.administer(
                .put, "\(Self.start)/keys/list", body: #"{"type":"array","value":[{"type":"integer","value":1}]}"#)
            let answer = try await client.administer(.get, Self.start)
            let keys = try answer.entries()
            #expect(keys.map { $0["key"] as? String } == ["a", "b", "list", "old"])
            #expect(keys.map { $0["writer"] as? String } == ["phone", "phone", "emulator", "desk"])
            #expect(keys.map { $0["seq"] as? Int } == [2, 1, 5, 4])
            #expect(keys.map { $0["deleted"] as? Bool ?? false } == [false, false, false, true])
            #expect(keys[0]["type"] as? String == "string" && keys[0]["value"] as? String == "v")
            #expect(answer.text.contains(#""type":"array","value":[{"type":"integer","value":1}]"#))
            let stamp = try #require(keys[0]["stamp"] as? String)
            #expect(keys[0]["time"] as? Int64 == StoreStamp(stamp)?.milliseconds)
        }
    }

    @Test("a key is written, read and removed, and devices and events show it")
    func key() async throws {
        try await EmulatorClient.run { client in
            var events = try await client.stream("/emulator/v1/worlds/w/events")
            #expect(await events.nextEvent()?.name == "opened")
            let path = "\(Self.start)/keys/k"
            let written = try await client.administer(.put, path, body: #"{"type":"string","value":"green"}"#)
            #expect(written.status == .ok)
            #expect(try await client.administer(.get, path).text == written.text)
            #expect(try await client.get("k", token: "w/phone") == "green")
            var stream = try await client.stream("/v1/stores/s/changes", token: "w/phone")
            #expect(await stream.nextEvent()?.name == "opened")
            #expect(await stream.nextEvent()?.fields["key"] as? String == "k")
            await stream.connection.close()
            let change = try #require(await events.nextEvent())
            #expect(change.name == "change" && change.fields["device"] as? String == "emulator")
            for name in ["connected", "disconnected"] {
                #expect(await events.nextEvent()?.name == name)
            }
            let removed = try await client.administer(.delete, path)
            #expect(removed.text.contains(#""deleted":true"#))
            #expect(try await client.administer(.get, path).text == removed.text)
            #expect(try await client.get("k", token: "w/phone") == nil)
            let removal = try #require(await events.nextEvent())
            #expect(removal.fields["deleted"] as? Bool == true)
            await events.connection.close()
        }
    }

    @Test("a key of any characters is addressed percent-encoded")
    func encodedKeys() async throws {
        try await EmulatorClient.run { client in
            let path = "\(Self.start)/keys/a%2Fb%20%C3%A9%22"
            _ = try await client.administer(.put, path, body: #"{"type":"bool","value":true}"#)
            let answer = try await client.administer(.get, path + "/explanation")
            #expect(answer.text.contains(#""key":"a/b é\"""#), "\(answer.text)")
        }
    }

    @Test("a write creates world and store, unless there are too many worlds")
    func creation() async throws {
        var limits = EmulatorLimits()
        limits.worldCount = 2
        try await EmulatorClient.run(limits: limits) { client in
            let value = #"{"type":"integer","value":7}"#
            func put(_ world: String, _ body: String) async throws -> TestResponse {
                try await client.administer(.put, "/worlds/\(world)/stores/s/keys/k", body: body)
            }
            #expect(try await put("a", value).status == .ok)
            // One that fails does not count.
            #expect(try await put("b", "{}").status == .badRequest)
            #expect(try await put("c", value).status == .ok)
            #expect(try await put("d", value).problemCode == "too-many-worlds")
            let list = try await client.administer(.get, "/worlds").text
            #expect(list.contains(#""world":"a""#) && !list.contains(#""world":"b""#))
        }
    }

    @Test("accounts of a world have stores of their own")
    func accounts() async throws {
        try await EmulatorClient.run { client in
            func put(_ value: String, _ query: String) async throws -> TestResponse {
                try await client.administer(
                    .put, "\(Self.start)/keys/k\(query)", body: #"{"type":"string","value":"\#(value)"}"#)
            }
            #expect(try await put("one", "").status == .ok)
            #expect(try await put("two", "?account=B").status == .ok)
            let expected = [("", "one"), ("?account=default", "one"), ("?account=B", "two")]
            for (query, value) in expected {
                let keys = try await client.administer(.get, Self.start + query).entries()
                #expect(keys.map { $0["value"] as? String } == [value])
                let answer = try await client.administer(.get, "\(Self.start)/keys/k/explanation\(query)")
                let place = query == "?account=B" ? "in s of account B:" : "in s:"
                #expect(answer.text.contains(place), "\(answer.text)")
            }
            #expect(try await client.get("k", token: "w") == "one")
            let missing = try await client.administer(.get, Self.start + "?account=C")
            #expect(missing.problemCode == "unknown-store")
            for account in ["", "a%2Fb", "%"] {
                let answer = try await client.administer(.get, Self.start + "?account=\(account)")
                #expect(answer.status == .badRequest && answer.problemCode == "malformed")
            }
        }
    }

    @Test("what does not exist is answered as such")
    func unknown() async throws {
        try await EmulatorClient.run { client in
            func code(_ method: HTTPRequest.Method, _ path: String) async throws -> String? {
                try await client.administer(method, path).problemCode
            }
            for path in ["", "/keys/k", "/keys/k/explanation"] {
                #expect(try await code(.get, Self.start + path) == "unknown-world")
            }
            try await client.put("v", "k", store: "other", token: "w")
            for path in ["", "/keys/k", "/keys/k/explanation"] {
                #expect(try await code(.get, Self.start + path) == "unknown-store")
            }
            #expect(try await code(.delete, Self.start + "/keys/k") == "unknown-store")
            try await client.put("v", "other", token: "w")
            for path in ["/keys/k", "/keys/k/explanation"] {
                #expect(try await code(.get, Self.start + path) == "unknown-key")
            }
            #expect(try await code(.delete, Self.start + "/keys/k") == "unknown-key")
            let long = String(repeating: "k", count: 129)
            #expect(try await code(.get, "\(Self.start)/keys/\(long)") == "bad-key")
            #expect(try await code(.get, "\(Self.start)/keys/%FF/explanation") == "bad-key")
            #expect(try await code(.get, "/worlds/w/stores/.s") == "bad-store-name")
            #expect(try await code(.get, "/worlds/%2F/stores/s") == "bad-world-name")
            for path in ["/stores", "/stores/", "/stores/s/k", "/stores/s/keys", "/stores//keys"] {
                #expect(try await code(.get, "/worlds/w" + path) == "unknown-path")
            }
            #expect(try await code(.delete, Self.start) == "method")
            #expect(try await code(.put, Self.start + "/keys/k/explanation") == "method")
        }
    }

    @Test(
        "an invalid value is refused and changes nothing",
        arguments: [
            ("", 400, "malformed"), ("[]", 400, "malformed"), ("{}", 400, "malformed"),
            (#"{"type":"colour","value":1}"#, 400, "malformed"),
            (#"{"type":"integer","value":"1"}"#, 400, "malformed"),
            (#"{"type":"date","value":"yesterday"}"#, 400, "malformed"),
            (nested(130), 400, "too-deep"), (nested(50_000), 400, "too-deep"),
            (string(1_100_000), 507, "quota"), (string(2_200_000), 413, "body-too-large"),
        ])
    func invalid(body: String, status: Int, code: String) async throws {
        try await EmulatorClient.run { client in
            try await client.put("green", "k", token: "w")
            let answer = try await client.administer(.put, "\(Self.start)/keys/k", body: body)
            #expect(answer.status.code == status && answer.problemCode == code, "\(answer.text)")
            #expect(try await client.get("k", token: "w") == "green")
        }
    }

    @Test(
        "an invalid value is refused with the form that is expected",
        arguments: [
            (#"{"type":"date","value":1789732800123}"#, "not milliseconds since 1970"),
            (#"{"type":"date","value":-1e11}"#, "not milliseconds since 1970"),
            (#"{"type":"date","value":"yesterday"}"#, "expected a date such as 2026-09-18T12:00:00Z"),
            (#"{"type":"data","value":"?"}"#, "value is invalid: expected base64"),
            (#"{"type":"bytes","value":1}"#, "value is invalid: expected base64"),
            (#"{"type":"integer","value":"7"}"#, "expected an integer of 64 bits"),
            (#"{"type":"integer","value":18446744073709551616}"#, "expected an integer of 64 bits"),
            (#"{"type":"double","value":"x"}"#, #"expected a number, "nan""#),
            (#"{"type":"bool","value":1}"#, "expected true or false"),
            (#"{"type":"colour","value":1}"#, "type is invalid: expected one of string, integer"),
            (#"{"type":"array","value":[1]}"#, "expected an array of objects with type and value"),
            (
                #"{"type":"array","value":[{"type":"data","value":"?"}]}"#,
                "value[0].value is invalid: expected base64"
            ),
        ])
    func expectedForm(body: String, reason: String) async throws {
        try await EmulatorClient.run { client in
            let answer = try await client.administer(.put, "\(Self.start)/keys/k", body: body)
            let detail = try answer.decoded(Refusal.self).detail
            #expect(answer.status.code == 400 && detail.contains(reason), "\(detail)")
            #expect(answer.text.contains("docs/emulator.md"))
            let document = #"{"version":1,"store":"s","values":[{"key":"k",\#(body.dropFirst())]}"#
            let imported = try await client.administer(.put, "/worlds/w/export", body: document)
            #expect(imported.status.code == 400 && imported.text.contains("key k: expected "))
        }
    }

    @Test("a date that is far away is written and read")
    func farDate() async throws {
        try await EmulatorClient.run { client in
            for seconds in [63_113_904_000, 1e18, -1e12] {
                let text = "\(seconds) s since 2001-01-01T00:00:00Z"
                let body = #"{"type":"date","value":"\#(text)"}"#
                let answer = try await client.administer(.put, "\(Self.start)/keys/k", body: body)
                #expect(answer.status == .ok && answer.text.contains(text), "\(answer.text)")
            }
        }
    }

    @Test("the deepest property list is written and read")
    func depth() async throws {
        try await EmulatorClient.run { client in
            let path = "\(Self.start)/keys/k"
            let body = Self.nested(WireLimits.propertyListDepth + 1)
            let written = try await client.administer(.put, path, body: body)
            #expect(written.status == .ok && written.text.contains(#""value":[]"#))
            let read = try await client.administer(.get, path)
            #expect(read.text == written.text)
        }
    }

    @Test("a value is written as JSON only")
    func mediaType() async throws {
        try await EmulatorClient.run { client in
            let answer = try await client.execute(
                .put, "/emulator/v1\(Self.start)/keys/k", headers: [.contentType: "text/plain"],
                body: #"{"type":"bool","value":true}"#)
            #expect(answer.problemCode == "media-type")
        }
    }

    private static func nested(_ count: Int) -> String {
        String(repeating: #"{"type":"array","value":["#, count: count) + String(repeating: "]}", count: count)
    }

    private static func string(_ count: Int) -> String {
        #"{"type":"string","value":"\#(String(repeating: "x", count: count))"}"#
    }
}

private struct Refusal: Decodable {
    var detail: String
}

extension TestResponse {
    /// The keys in the answer to `GET …/stores/{store}`.
    fileprivate func entries() throws -> [[String: Any]] {
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        return try #require(object?["keys"] as? [[String: Any]], "\(text)")
    }
}
