#if PostgreSQL
    import StoreTestSupport
    import Foundation
    import HTTPTypes
    import KVStoreWire
    import NIOCore
    import ServerTestSupport
    import Synchronization
    import Testing

    /// Two real daemons on one database, with a device that both know.
    struct DatabaseNodes {
        let nodes: [DaemonProcess]
        let clients: [TestClient]
        let token: String
        private let directory: TemporaryDirectory

        init(_ address: String) async throws {
            directory = try TemporaryDirectory()
            var nodes: [DaemonProcess] = []
            for index in 0..<2 {
                nodes.append(
                    try await DaemonProcess(
                        dataPath: directory.file("node\(index)"),
                        arguments: [
                            "--set", "database=\(address)", "--requests-per-second", "100000",
                        ]))
            }
            self.nodes = nodes
            clients = nodes.map { TestClient(port: $0.port) }
            token = try await Self.addDevice(nodes[0], clients[0])
        }

        /// By the code that a daemon keeps for its machine.
        private static func addDevice(_ node: DaemonProcess, _ client: TestClient) async throws -> String {
            let file = try Data(contentsOf: URL(filePath: node.dataPath + "/daemon.json"))
            let status = try JSONDecoder().decode(DaemonStatus.self, from: file)
            let response = try await client.execute(
                uri: "/v1/pair", method: .post, headers: [.contentType: "application/json"],
                body: ByteBuffer(string: #"{"code":"\#(status.code)","device":"laptop"}"#))
            struct Answer: Decodable { var token: String }
            return try JSONDecoder().decode(Answer.self, from: Data(response.body.readableBytesView)).token
        }

        func put(_ value: String, key: String, in store: String = "s", at node: Int) async throws {
            try await put(value, key: key, in: store, clients[node])
        }

        func put(_ value: String, key: String, in store: String = "s", _ client: TestClient) async throws {
            _ = try await change(.put, "\(store)/keys/\(key)", value, client)
        }

        struct Change: Decodable {
            var seq: UInt64
            var stamp: String
        }

        /// - Parameter path: of a key, or a store, which has no change.
        func change(
            _ method: HTTPRequest.Method, _ path: String, _ value: String? = nil, _ client: TestClient
        ) async throws -> Change? {
            var headers: HTTPFields = [.authorization: "Bearer \(token)"]
            if value != nil { headers[.contentType] = "application/octet-stream" }
            let response = try await client.execute(
                uri: "/v1/stores/\(path)", method: method, headers: headers,
                body: value.map { ByteBuffer(string: $0) })
            guard response.status.kind == .successful else { throw TestClient.Refused(response) }
            // Empty for a store.
            return try? JSONDecoder().decode(Change.self, from: Data(response.body.readableBytesView))
        }

        func value(of key: String, at node: Int, token: String? = nil) async throws -> String {
            let response = try await clients[node].execute(
                uri: "/v1/stores/s/keys/\(key)", method: .get,
                headers: [
                    .authorization: "Bearer \(token ?? self.token)",
                    .accept: "application/octet-stream",
                ])
            return response.status == .ok ? response.text : ""
        }

        func readiness() async throws -> [Bool] {
            var result: [Bool] = []
            for node in nodes {
                // On a connection of its own, so that it waits for no other request.
                let client = TestClient(port: node.port)
                let response = try await client.execute(uri: "/readyz", method: .get)
                result.append(response.status == .ok)
                await client.close()
            }
            return result
        }

        func stream(at node: Int, after cursor: UInt64) async throws -> EventReader {
            try await EventReader(
                port: nodes[node].port, path: "/v1/stores/s/changes", token: token,
                more: "Last-Event-ID: \(cursor)\r\n")
        }

        /// Puts ascending numbers until the task is cancelled, whatever happens meanwhile.
        func write(_ key: String, at node: Int, _ acknowledged: Acknowledged) async {
            let client = TestClient(port: nodes[node].port)
            var number = 0
            while !Task.isCancelled {
                number += 1
                do {
                    try await put("\(number)", key: key, client)
                    acknowledged.record(number, key)
                } catch { await Task.yield() }
            }
            await client.close()
        }

        func stop() async {
            for client in clients { await client.close() }
            for node in nodes { await node.kill() }
        }

        /// The last number of each key.
        final class Acknowledged: Sendable {
            private let numbers = Mutex<[String: Int]>([:])
            private let total = Mutex(0)

            func record(_ number: Int, _ key: String) {
                numbers.withLock { $0[key] = number }
                total.withLock { $0 += 1 }
            }

            var all: [String: Int] { numbers.withLock { $0 } }
            var count: Int { total.withLock { $0 } }
        }
    }
#endif
