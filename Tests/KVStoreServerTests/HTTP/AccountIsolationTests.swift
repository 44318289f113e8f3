import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreLog
import KVStoreWire
import NIOCore
import ServerTestSupport
import Testing

@testable import KVStoreServer

@Suite("Isolation of accounts", .engines, .timeLimit(.minutes(5)))
struct AccountIsolationTests {
    private typealias Call = (method: HTTPRequest.Method, path: String, body: String?)

    private static let json: HTTPFields = [.contentType: "application/json"]

    /// In the account `default`; "b-only" is a store of the other account alone, if that exists.
    private static let calls: [Call] = [
        (.get, "/v1/me", nil), (.get, "/v1/devices", nil), (.get, "/v1/stores", nil),
        (.get, "/v1/stores/s/keys", nil), (.get, "/v1/stores/s/changes", nil),
        (.delete, "/v1/stores/s", nil), (.delete, "/v1/stores/s/keys/k", nil),
        (.put, "/v1/stores/s/keys/k", #"{"value":"YQ=="}"#), (.get, "/v1/stores/s/keys/k", nil),
        (.get, "/v1/stores/b-only/keys", nil), (.get, "/v1/stores/b-only/keys/k", nil),
        (.get, "/v1/stores/b-only/changes", nil), (.delete, "/v1/stores/b-only", nil),
        (.post, "/v1/stores/s/sync", #"{"replica":"8f3ac0de51b20417","changes":[]}"#),
        (.post, "/v1/stores/t/sync", #"{"replica":"8f3ac0de51b20417","changes":[]}"#),
        (.put, "/v1/stores/t/keys/k", #"{"value":"YWE="}"#),
        (.put, "/v1/stores/u/keys/k", #"{"value":"YWE="}"#),
        (.put, "/v1/stores/t/keys/big", #"{"value":"\#(String(repeating: "YWFh", count: 400))"}"#),
        (.get, "/v1/stores", nil), (.delete, "/v1/stores/t", nil), (.get, "/v1/stores", nil),
        (.post, "/v1/pair", #"{"code":"AwEkN_Im67nNBlTWri3v1kxSrKvmPA"}"#),
        (.get, "/v1/devices", nil),
    ]

    /// The answers to the laptop's calls, with writes of the other account's device before each if it has one.
    private func answers(besides stranger: Bool) async throws -> [String] {
        let test = try TestServer()
        let file = test.deviceStorage
        try file.change(.all) { $0.instance = "00000000000000ff" }
        _ = try file.limitAccount("default") {
            $0.byteLimit = 1_500
            $0.storeLimit = 2
        }
        if stranger {
            _ = try file.limitAccount("other") { $0.byteLimit = 1_000 }
        } else {
            try test.remove(TestServer.stranger)
        }
        return try await test.served { client, _ in
            var answers: [String] = []
            var refusals = 0
            for (index, call) in Self.calls.enumerated() {
                for store in stranger ? ["s", "t", "b-only"] : [] {
                    let path = "/v1/stores/\(store)/keys/k\(index)"
                    let response = try await test.send(
                        client, .put, path, as: TestServer.stranger, Self.json,
                        body: ByteBuffer(string: #"{"value":"Yg=="}"#))
                    if response.problemCode == "account-full" { refusals += 1 }
                    if index.isMultiple(of: 5) {
                        _ = try await test.send(client, .delete, "/v1/stores/\(store)", as: TestServer.stranger)
                    }
                }
                var response = try await test.send(
                    client, call.method, call.path, Self.json, body: call.body.map { ByteBuffer(string: $0) })
                response.headers[.date] = nil
                answers.append(
                    "\(call.method) \(call.path): \(response.status.code)\n"
                        + "\(response.headers)\n\(response.text)")
            }
            #expect((refusals > 10) == stranger)
            return answers
        }
    }

    // With a database the ids of epochs are random, so that answers cannot be compared.
    @Test("answers are the same whether or not another account has stores of the same names", .logOnly)
    func indistinguishable() async throws {
        let alone = try await answers(besides: false)
        let besides = try await answers(besides: true)
        for (first, second) in zip(alone, besides) { #expect(first == second) }
        #expect(alone.contains { $0.contains("account-full") })
        #expect(alone.contains { $0.contains("too-many-stores") })
        #expect(!alone.contains { $0.contains("stranger") || $0.contains("other") })
    }

    @Test("a stream brings nothing of a store that another account has under the same name")
    func streams() async throws {
        let test = try TestServer()
        try await test.served { client, port in
            func put(_ key: String, as device: String) async throws {
                let response = try await test.send(
                    client, .put, "/v1/stores/s/keys/\(key)", as: device, Self.json,
                    body: ByteBuffer(string: #"{"value":"YQ=="}"#))
                #expect(response.status == .ok)
            }
            try await put("first", as: TestServer.laptop)
            var reader = try await test.openStream(port, "?since=1")
            for number in 0..<5 { try await put("theirs\(number)", as: TestServer.stranger) }
            try await put("second", as: TestServer.laptop)
            let event = try #require(await reader.next())
            #expect(event.id == "2" && event.data?.contains("second") == true)
            await reader.connection.close()
        }
    }

    @Test("the answer to a full account has its current limit, and others continue")
    func full() async throws {
        let test = try TestServer()
        try await test.served { client, _ in
            func put(_ key: String, _ count: Int, as device: String) async throws -> TestResponse {
                try await test.send(
                    client, .put, "/v1/stores/s/keys/\(key)", as: device, [.contentType: "application/octet-stream"],
                    body: ByteBuffer(repeating: 0x61, count: count))
            }
            #expect(try await put("k", 100, as: TestServer.stranger).status == .ok)
            _ = try test.deviceStorage.limitAccount("other") { $0.byteLimit = 700 }
            let refused = try await put("k", 1_000, as: TestServer.stranger)
            #expect(refused.status.code == 507 && refused.problemCode == "account-full")
            #expect(refused.text.contains(#""limit":700"#), "\(refused.text)")
            #expect(refused.text.contains("kvsd account limit"))
            #expect(refused.headers[.retryAfter] == "60")
            #expect(try await put("k", 50, as: TestServer.stranger).status == .ok)
            #expect(try await put("k", 1_000, as: TestServer.laptop).status == .ok)
            #expect(test.server.metrics.counters.refusals["account-full"] == 1)
            // Below what is used: nothing is removed, and reads and removals work.
            _ = try test.deviceStorage.limitAccount("other") { $0.byteLimit = 1 }
            #expect(try await put("k", 51, as: TestServer.stranger).status.code == 507)
            #expect(try await put("k", 49, as: TestServer.stranger).status == .ok)
            let removed = try await test.send(client, .delete, "/v1/stores/s/keys/k", as: TestServer.stranger)
            #expect(removed.status == .ok)
            _ = try test.deviceStorage.limitAccount("other") { $0.byteLimit = nil }
            #expect(try await put("k", 1_000, as: TestServer.stranger).status == .ok)
        }
    }

    @Test("a store limit of an account applies at once, and removes nothing")
    func stores() async throws {
        let test = try TestServer()
        try await test.served { client, _ in
            func create(_ store: String, as device: String) async throws -> TestResponse {
                try await test.send(
                    client, .post, "/v1/stores/\(store)/sync", as: device, body: test.syncBody(Samples.request()))
            }
            for store in ["a", "b"] {
                #expect(try await create(store, as: TestServer.stranger).status == .ok)
            }
            _ = try test.deviceStorage.limitAccount("other") { $0.storeLimit = 1 }
            let refused = try await create("c", as: TestServer.stranger)
            #expect(refused.problemCode == "too-many-stores")
            #expect(refused.text.contains(#""limit":1,"#) || refused.text.contains(#""limit":1}"#))
            #expect(try await create("a", as: TestServer.stranger).status == .ok)
            #expect(try await create("c", as: TestServer.laptop).status == .ok)
            #expect(try await test.server.engine.storeList(ofAccount: "other").count == 2)
        }
    }

    @Test("the answer to a full server says nothing of accounts")
    func serverFull() {
        let problem = Problem(LogError.full(limit: 5))
        #expect(problem.code == "memory-full")
        #expect(!String(decoding: problem.json, as: UTF8.self).contains("account"))
    }
}
