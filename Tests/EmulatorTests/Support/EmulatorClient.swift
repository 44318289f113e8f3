import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import NIOCore
import ServerTestSupport
import Synchronization
import Testing

@testable import KVStoreEmulator
import KVStoreServer

/// Requests to an emulator in the test's process, with a connection for each token.
final class EmulatorClient: Sendable {
    let emulator: RunningEmulator
    let port: Int
    private let clients = Mutex<[String: TestClient]>([:])

    private init(_ emulator: RunningEmulator, port: Int) {
        self.emulator = emulator
        self.port = port
    }

    /// Runs an emulator while `body` runs.
    static func run(
        address: ListenAddress = .anyLoopbackPort, origins: [String] = [], limits: EmulatorLimits = EmulatorLimits(),
        record: (@Sendable (Data) -> Void)? = nil, _ body: (EmulatorClient) async throws -> Void
    ) async throws {
        try await Emulator(address: address, origins: origins, limits: limits, record: record).run { emulator in
            let port = try #require(Int(emulator.url.split(separator: ":").last ?? ""))
            let client = EmulatorClient(emulator, port: port)
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(client))
            } catch {
                result = .failure(error)
            }
            for client in client.clients.withLock({ $0.values }) { await client.close() }
            try result.get()
        }
    }

    func execute(
        _ method: HTTPRequest.Method, _ path: String, token: String? = nil,
        headers: HTTPFields = [:], body: String? = nil, bytes: Data? = nil
    ) async throws -> TestResponse {
        var headers = headers
        if let token { headers[.authorization] = "Bearer \(token)" }
        let client = clients.withLock { clients in
            if let client = clients[token ?? ""] { return client }
            let client = TestClient(port: port)
            clients[token ?? ""] = client
            return client
        }
        return try await client.execute(
            uri: path, method: method, headers: headers,
            body: body.map { ByteBuffer(string: $0) } ?? bytes.map { ByteBuffer(bytes: $0) })
    }

    /// As `execute`, below `/emulator/v1`.
    func administer(_ method: HTTPRequest.Method, _ path: String, body: String? = nil) async throws -> TestResponse {
        try await execute(
            method, "/emulator/v1\(path)", headers: body == nil ? [:] : [.contentType: "application/json"], body: body)
    }

    /// Sets a string.
    @discardableResult
    func put(
        _ value: String, _ key: String, store: String = "s", token: String
    ) async throws -> TestResponse {
        let bytes = PropertyListValue.string(value).encoded().base64EncodedString()
        return try await execute(
            .put, "/v1/stores/\(store)/keys/\(key)", token: token,
            headers: [.contentType: "application/json"], body: #"{"value":"\#(bytes)"}"#)
    }

    /// The string of a key; nil without one.
    func get(_ key: String, store: String = "s", token: String) async throws -> String? {
        let answer = try await execute(.get, "/v1/stores/\(store)/keys/\(key)", token: token)
        guard answer.status == .ok else { return nil }
        let entry: SequencedRecord = try answer.decoded(SequencedRecord.self)
        guard case .value(let data) = entry.record.content,
            case .string(let text)? = try? PropertyListValue(encoded: data)
        else { return nil }
        return text
    }

    /// Pushes changes and pulls everything after a cursor.
    @discardableResult
    func sync(
        _ changes: [StoreRecord] = [], replica: ReplicaID = Samples.replica, since: SyncCursor? = nil,
        store: String = "s", token: String
    ) async throws -> SyncResponse {
        let request = SyncRequest(replica: replica, since: since, changes: changes)
        let answer = try await execute(
            .post, "/v1/stores/\(store)/sync", token: token, headers: [.contentType: "application/json"],
            body: String(decoding: WireJSON.encode(request), as: UTF8.self))
        return try answer.decoded(SyncResponse.self)
    }

    func stream(_ path: String, token: String = "none", more: String = "") async throws -> EventReader {
        try await EventReader(port: port, path: path, token: token, more: more)
    }
}

extension EventReader {
    /// The next event that is not a comment.
    mutating func nextEvent() async -> Event? {
        while let event = await next() {
            if event.comment == nil { return event }
        }
        return nil
    }
}

extension EventReader.Event {
    var fields: [String: Any] {
        let object = data.flatMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) }
        return object as? [String: Any] ?? [:]
    }
}
