import Foundation
import HTTPTypes
import KVStoreCore
import NIOCore
import ServerTestSupport
import Testing

@testable import KVStoreServer

@Suite("Authorization", .engines, .timeLimit(.minutes(5)))
struct AuthorizationTests {
    private let test = try! TestServer()

    struct Call: Sendable, CustomTestStringConvertible {
        var method: HTTPRequest.Method
        var path: String
        var isWrite = false
        var body: String?
        var type = "application/json"

        var testDescription: String { "\(method) \(path)" }
    }

    /// Every call that names a store.
    static let calls: [Call] = [
        Call(
            method: .post, path: "/v1/stores/STORE/sync", isWrite: true,
            body: """
                {"replica":"8f3ac0de51b20417","changes":[{"key":"n","stamp":"\(Samples.stamp())",\
                "deleted":true}]}
                """),
        Call(method: .post, path: "/v1/stores/STORE/sync", body: #"{"replica":"8f3ac0de51b20417","changes":[]}"#),
        Call(method: .get, path: "/v1/stores/STORE/changes?since=0&epoch=0000000000000000"),
        Call(method: .get, path: "/v1/stores/STORE/keys"),
        Call(method: .get, path: "/v1/stores/STORE/keys/a"),
        Call(method: .put, path: "/v1/stores/STORE/keys/a", isWrite: true, body: #"{"value":""}"#),
        Call(method: .delete, path: "/v1/stores/STORE/keys/a", isWrite: true),
        Call(method: .delete, path: "/v1/stores/STORE", isWrite: true),
    ]

    private func execute(
        _ call: Call, _ client: TestClient, store: String, device: String?
    ) async throws -> TestResponse {
        try await test.send(
            client, call.method, call.path.replacing("STORE", with: store), as: device, [.contentType: call.type],
            body: call.body.map { ByteBuffer(string: $0) })
    }

    private func fill(_ client: TestClient) async throws {
        for store in ["allowed", "private"] {
            let response = try await test.send(
                client, .post, "/v1/stores/\(store)/sync", body: test.syncBody(Samples.request([Samples.change("a")])))
            #expect(response.status == .ok)
        }
    }

    @Test(
        "without a token every route is rejected, with the same answer for present and missing stores",
        arguments: calls)
    func noToken(call: Call) async throws {
        try await test.served { client, _ in
            try await fill(client)
            let present = try await execute(call, client, store: "allowed", device: nil)
            let missing = try await execute(call, client, store: "missing", device: nil)
            #expect(present.status == .unauthorized)
            #expect(present.headers[.wwwAuthenticate] == "Bearer")
            #expect(present.body == missing.body)
        }
    }

    @Test("a read-only device can use every route that does not write", arguments: calls)
    func readOnly(call: Call) async throws {
        try await test.served { client, _ in
            try await fill(client)
            let response = try await execute(call, client, store: "allowed", device: TestServer.reader)
            #expect(response.status == (call.isWrite ? .forbidden : .ok))
            if call.isWrite { #expect(response.problemCode == "read-only") }
        }
    }

    @Test("a store that the token does not permit is indistinguishable from a missing one", arguments: calls)
    func limited(call: Call) async throws {
        try await test.served { client, _ in
            try await fill(client)
            let outside = try await execute(call, client, store: "private", device: TestServer.limited)
            let missing = try await execute(call, client, store: "never-made", device: TestServer.limited)
            #expect(outside.status == .notFound)
            #expect(outside.problemCode == "unknown-store")
            #expect(outside.body == missing.body)
            let inside = try await execute(call, client, store: "allowed", device: TestServer.limited)
            #expect(inside.status == .ok)
        }
    }

    @Test("a store of another account is another store", arguments: calls)
    func otherAccount(call: Call) async throws {
        try await test.served { client, _ in
            try await fill(client)
            let before = try await test.server.engine.values(in: StoreID(account: "default", name: "private"))
            let present = try await execute(call, client, store: "private", device: TestServer.stranger)
            #expect(!present.text.contains(Data("value".utf8).base64EncodedString()))
            let after = try await test.server.engine.values(in: StoreID(account: "default", name: "private"))
            #expect(before == after)
        }
    }

    @Test("lists contain only what the token permits")
    func lists() async throws {
        try await test.served { client, _ in
            try await fill(client)
            let stores = try await test.send(client, .get, "/v1/stores", as: TestServer.limited).text
            #expect(stores.contains("allowed") && !stores.contains("private"))
            let none = try await test.send(client, .get, "/v1/stores", as: TestServer.stranger).text
            #expect(!none.contains("allowed"))
            let devices = try await test.send(client, .get, "/v1/devices", as: TestServer.stranger).text
            #expect(devices.contains("stranger") && !devices.contains("laptop"))
        }
    }

    @Test("the next request of a removed device is rejected")
    func removed() async throws {
        try await test.served { client, _ in
            func me() async throws -> HTTPResponse.Status {
                try await test.send(client, .get, "/v1/me").status
            }
            #expect(try await me() == .ok)
            try await test.applied { try test.remove(TestServer.laptop) }
            #expect(try await me() == .unauthorized)
        }
    }

    @Test(
        "an Authorization header without a known token is rejected",
        arguments: ["", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Bearer ubq_wrong", "ubq_x"])
    func otherHeaders(value: String) async throws {
        try await test.served { client, _ in
            let response = try await client.execute(uri: "/v1/me", method: .get, headers: [.authorization: value])
            #expect(response.status == .unauthorized)
        }
    }
}
