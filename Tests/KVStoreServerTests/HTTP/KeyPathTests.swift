import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import NIOCore
import ServerTestSupport
import Testing

@testable import KVStoreServer

@Suite("Keys in paths", .engines, .timeLimit(.minutes(5)))
struct KeyPathTests {
    /// A path segment and the UTF-8 bytes of the key that it names.
    static let keys: [(segment: String, bytes: [UInt8])] = [
        ("abc", Array("abc".utf8)),
        ("%61bc", Array("abc".utf8)),
        ("a%2Fb", Array("a/b".utf8)),
        ("a%2fb", Array("a/b".utf8)),
        ("a+b", Array("a+b".utf8)),
        ("a%25b", Array("a%b".utf8)),
        ("%20", [0x20]),
        ("%EF%BB%BFabc", [0xEF, 0xBB, 0xBF] + Array("abc".utf8)),
        ("abc%EF%BB%BF", Array("abc".utf8) + [0xEF, 0xBB, 0xBF]),
        ("%FE%FF", []), ("%FF%FEa%00", []),
        ("%00", [0]),
        ("a%00b", [0x61, 0, 0x62]),
        ("%C3%A9", [0xC3, 0xA9]),
        ("e%CC%81", [0x65, 0xCC, 0x81]),
        ("%F0%9F%8E%89", Array("🎉".utf8)),
    ]

    /// Segments that name no key.
    static let invalid = [
        "%", "%4", "%zz", "%4g", "a%", "%%41", "%FF", "%80", "%C3", "%C3a", "%C0%80", "%E0%80%80",
        "%ED%A0%80", "%F4%90%80%80", "%F8%88%80%80%80", String(repeating: "k", count: 129),
    ]

    @Test("PUT, GET, list and DELETE preserve every byte of a percent-encoded key")
    func kept() async throws {
        let test = try TestServer()
        try await test.served { client, _ in
            for (segment, bytes) in Self.keys where !bytes.isEmpty {
                func execute(_ method: HTTPRequest.Method) async throws -> TestResponse {
                    try await test.send(
                        client, method, "/v1/stores/s/keys/\(segment)", [.contentType: "application/octet-stream"],
                        body: method == .put ? ByteBuffer(string: segment) : nil)
                }
                #expect(try await execute(.put).status == .ok, "\(segment)")
                let stored = try await test.server.engine.values(in: StoreID(account: "default", name: "s"))
                #expect(stored?.map { Array($0.record.key.text.utf8) } == [bytes], "\(segment)")
                let read = try await execute(.get)
                #expect(read.status == .ok)
                #expect(try Array(read.decoded(SequencedRecord.self).record.key.text.utf8) == bytes, "\(segment)")
                #expect(try await execute(.delete).status == .ok)
                #expect(try await execute(.get).status == .notFound)
            }
        }
    }

    @Test(
        "malformed percent-encoding and invalid UTF-8 are rejected",
        arguments: invalid + keys.filter { $0.bytes.isEmpty }.map(\.segment))
    func refused(segment: String) async throws {
        let test = try TestServer()
        try await test.served { client, _ in
            for method in [HTTPRequest.Method.put, .get, .delete] {
                let response = try await test.send(
                    client, method, "/v1/stores/s/keys/\(segment)", [.contentType: "application/octet-stream"],
                    body: method == .put ? ByteBuffer(string: "v") : nil)
                #expect(response.status == .badRequest, "\(method) \(segment)")
                #expect(response.problemCode == "bad-key")
            }
        }
    }
}
