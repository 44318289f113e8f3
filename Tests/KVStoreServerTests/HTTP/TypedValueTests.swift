import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import NIOCore
import ServerTestSupport
import Testing

@testable import KVStoreServer

@Suite("Values as JSON with their type", .engines, .timeLimit(.minutes(5)))
struct TypedValueTests {
    private static let uri = "/v1/stores/s/keys/k"

    private static func get(
        _ test: TestServer, _ client: TestClient, as device: String = TestServer.laptop
    ) async throws -> TestResponse {
        try await test.send(client, .get, uri, as: device, [.accept: MediaType.typedValue])
    }

    private static func put(
        _ body: String, type: String = MediaType.typedValue, _ test: TestServer,
        _ client: TestClient, as device: String = TestServer.laptop
    ) async throws -> TestResponse {
        try await test.send(client, .put, uri, as: device, [.contentType: type], body: ByteBuffer(string: body))
    }

    /// Executes `body` while a server runs that has these bytes under the key.
    private static func served(
        storing bytes: Data? = nil, _ body: @escaping @Sendable (TestServer, TestClient) async throws -> Void
    ) async throws {
        let test = try TestServer()
        try await test.served { client, _ in
            if let bytes {
                let response = try await test.send(
                    client, .put, uri, [.contentType: MediaType.bytes], body: ByteBuffer(bytes: bytes))
                try #require(response.status == .ok)
            }
            try await body(test, client)
        }
    }

    @Test(
        "what is read can be written, and is the same value",
        arguments: [
            .integer(.max), .integer(.min), .double(0.1), .double(-.infinity), .double(3),
            .bool(true), .string("a\u{202E}\u{0}\"\n🎉e\u{301}"), .data(Data([0, 0xFF])),
            .date(Date(timeIntervalSinceReferenceDate: 0.123_456_789)),
            .date(Date(timeIntervalSinceReferenceDate: -1e300)),
            .array([
                .integer(1), .array([]),
                .dictionary(["type": .string("x"), "value": .bool(false)]),
            ]),
            .dictionary([:]),
        ] as [PropertyListValue])
    func roundTrip(value: PropertyListValue) async throws {
        let bytes = value.encoded()
        try await Self.served(storing: bytes) { test, client in
            let read = try await Self.get(test, client)
            try #require(read.status == .ok)
            #expect(read.headers[.contentType] == MediaType.typedValue)
            for other in [#"{"type": "string", "value": "other"}"#, read.text] {
                let response = try await Self.put(other, test, client)
                #expect(response.status == .ok)
            }
            let stored = try await test.server.engine.values(in: StoreID(account: "default", name: "s"))
            #expect(stored?.map(\.record.content) == [.value(bytes)])
        }
    }

    @Test("bytes that are not a property list are read and written as bytes")
    func bytes() async throws {
        try await Self.served(storing: Data("text".utf8)) { test, client in
            let read = try await Self.get(test, client)
            let object = try JSONSerialization.jsonObject(with: Data(read.text.utf8))
            let fields = try #require(object as? [String: Any])
            #expect(fields["type"] as? String == "bytes")
            #expect(fields["value"] as? String == "dGV4dA==")
            #expect(fields["key"] as? String == "k")
            #expect(fields["seq"] as? Int == 1)
            #expect(StoreStamp(fields["stamp"] as? String ?? "") != nil)
            #expect(try await Self.put(read.text, test, client).decoded(KeySummary.self).seq == 1)
        }
    }

    @Test("a device without the scope, and one of another account, neither read nor write")
    func scopes() async throws {
        try await Self.served(storing: PropertyListValue.bool(true).encoded()) { test, client in
            let body = #"{"type": "bool", "value": false}"#
            let refused = try await Self.put(body, test, client, as: TestServer.reader)
            #expect(refused.problemCode == "read-only")
            let hidden = [
                try await Self.put(body, test, client, as: TestServer.limited),
                try await Self.get(test, client, as: TestServer.limited),
                try await Self.get(test, client, as: TestServer.stranger),
            ]
            #expect(hidden.allSatisfy { $0.status == .notFound }, "\(hidden)")
            let read = try await Self.get(test, client, as: TestServer.reader)
            #expect(read.text.contains(#""value":true"#))
        }
    }

    @Test(
        "what is not a value with its type is refused, and does not end the server",
        arguments: [
            ("", "malformed"), ("[]", "malformed"), (#"{"value": 1}"#, "malformed"),
            (#"{"type": "integer", "value": 18446744073709551616}"#, "malformed"),
            (#"{"type": "integer", "value": 1.5}"#, "malformed"),
            (#"{"type": "data", "value": "%"}"#, "malformed"),
            (#"{"type": "date", "value": "yesterday"}"#, "malformed"),
            (#"{"type": "bool", "type": "bool", "value": true}"#, "malformed"),
            (#"{"type": "array", "value": [{"type": "null", "value": null}]}"#, "malformed"),
        ])
    func invalid(body: String, code: String) async throws {
        try await Self.served { test, client in
            let refused = try await Self.put(body, test, client)
            #expect(refused.problemCode == code)
        }
    }

    @Test("size and depth of a value are limited")
    func limits() async throws {
        try await Self.served { test, client in
            func code(_ body: String) async throws -> String? {
                try await Self.put(body, test, client).problemCode
            }
            func text(_ count: Int) -> String {
                #"{"type": "string", "value": "\#(String(repeating: "a", count: count))"}"#
            }
            #expect(try await code(Self.nested(129)) == "too-deep")
            #expect(try await code(String(repeating: "[", count: 100_000)) == "too-deep")
            #expect(try await code(text(1_048_700)) == "quota")
            let accepted = [Self.nested(128), text(1_048_000)]
            for body in accepted {
                let response = try await Self.put(body, test, client)
                #expect(response.status == .ok)
                let read = try await Self.get(test, client)
                #expect(read.status == .ok)
            }
        }
    }

    @Test("an error names a field, however long the names in the value are, in few words")
    func longNames() async throws {
        try await Self.served { test, client in
            let name = String(repeating: "\u{202E}<", count: 10_000)
            let response = try await Self.put(
                #"{"type": "dictionary", "value": {"\#(name)": {"type": "bool"}}}"#, test, client)
            #expect(response.problemCode == "malformed")
            #expect(response.text.utf8.count < 1_000 && !response.text.contains("\u{202E}"))
        }
    }

    @Test("a value that the form would multiply is read as bytes alone")
    func tooComplex() async throws {
        let many = PropertyListValue.array(Array(repeating: .bool(true), count: 20_000))
        let escaped = PropertyListValue.string(String(repeating: "\u{1}", count: 500_000))
        for bytes in [many.encoded(), escaped.encoded()] {
            try await Self.served(storing: bytes) { test, client in
                let response = try await Self.get(test, client)
                #expect(response.status == .notAcceptable)
                #expect(response.problemCode == "too-complex")
            }
        }
    }

    @Test("another type of body is refused with the names of those that there are")
    func mediaType() async throws {
        try await Self.served { test, client in
            let response = try await Self.put("{}", type: "text/plain", test, client)
            #expect(response.problemCode == "media-type")
            #expect(response.text.contains(MediaType.typedValue))
        }
    }

    /// A bool in so many arrays.
    private static func nested(_ depth: Int) -> String {
        String(repeating: #"{"type":"array","value":["#, count: depth)
            + #"{"type":"bool","value":true}"# + String(repeating: "]}", count: depth)
    }
}
