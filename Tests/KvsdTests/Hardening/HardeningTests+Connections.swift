import Foundation
import KVStoreServer
import NIOCore
import ServerTestSupport
import Testing

/// Connections that take what they can and give nothing.
extension HardeningTests {
    enum Stalled: String, CaseIterable, CustomTestStringConvertible {
        case silent, requestLine, head, bodyWithToken, bodyWithoutToken

        var testDescription: String { rawValue }

        func bytes(_ attacked: AttackedDaemon) -> String {
            let body = "Content-Type: application/json\r\nContent-Length: 50000\r\n\r\n{"
            return switch self {
            case .silent: ""
            case .requestLine: "GET /heal"
            case .head: attacked.head("GET /v1/me", "X-Long: a")
            case .bodyWithToken: attacked.head("POST /v1/stores/s/sync", body)
            case .bodyWithoutToken: attacked.head("POST /v1/stores/s/sync", token: "", body)
            }
        }

        /// The status of the answer before the connection is closed; nil for none.
        var status: Int? {
            switch self {
            case .silent, .requestLine, .head: nil
            case .bodyWithToken: 408
            case .bodyWithoutToken: 401
            }
        }
    }

    @Test("connections that send a byte now and then are closed", arguments: Stalled.allCases)
    func slowly(stalled: Stalled) async throws {
        var limits = AttackedDaemon.Limits()
        limits.others = [
            "first-request-milliseconds": 1_000, "request-milliseconds": 3_000,
            "drain-milliseconds": 500, "failed-authentications-per-minute": 1_000,
        ]
        try await AttackedDaemon.withstands(limits) { attacked in
            // Fewer than have a place without a token.
            let connections = try await attacked.open(80, sending: stalled.bytes(attacked))
            while connections.contains(where: { $0.channel.isActive }) {
                await attacked.honest.waitForRounds(1)
                for connection in connections where stalled != .silent {
                    connection.channel.writeAndFlush(ByteBuffer(string: "a"), promise: nil)
                }
            }
            for connection in connections {
                let answers = Answers(await connection.rest())
                #expect(answers.statuses == (stalled.status.map { [$0] } ?? []), "\(answers)")
            }
        }
    }

    @Test("a flood of silent connections locks out no device", arguments: [128, 10_000])
    func flood(count: Int) async throws {
        var limits = AttackedDaemon.Limits()
        // Each connection is two open files, one here.
        limits.connections = min(count, OpenFileLimit.raise() - 512)
        // As if from many addresses.
        limits.others = ["first-request-milliseconds": 600_000, "unauthenticated-per-address": 1_000_000]
        try await AttackedDaemon.withstands(limits) { attacked in
            let places = limits.connections
            let connections = try await attacked.open(places + 200)
            // Event loops accept concurrently, so the limit can be exceeded by a few.
            #expect(try await attacked.metric("kvsd_connections_open") <= places + 16 + 64)
            for _ in 0..<4 {
                let answers = try await attacked.answers(to: attacked.head("GET /v1/me") + "\r\n")
                #expect(answers.statuses == [200], "\(answers)")
            }
            for connection in connections { connection.channel.close(promise: nil) }
        }
    }

    @Test("live streams that are never read cost no memory and are closed")
    func watchers() async throws {
        var limits = AttackedDaemon.Limits()
        limits.others = ["slow-reader-milliseconds": 1_000]
        try await AttackedDaemon.withstands(limits) { attacked in
            let value = String(repeating: "v", count: 60_000)
            func write(_ key: Int) async throws {
                let answers = try await attacked.answers(
                    to: attacked.head(
                        "PUT /v1/stores/s/keys/k\(key)",
                        "Content-Type: application/octet-stream\r\nContent-Length: 60000\r\n\r\n")
                        + value)
                #expect(answers.statuses == [200], "\(answers)")
            }
            try await write(0)
            let streams = try await attacked.open(
                64, sending: attacked.head("GET /v1/stores/s/changes") + "\r\n", reads: false)
            for index in 1..<80 { try await write(index % 40) }
            while try await attacked.metric("kvsd_streams_open") > 0 {}
            #expect(try await attacked.metric("kvsd_slow_readers_cut_total") == 64)
            for stream in streams { stream.channel.close(promise: nil) }
        }
    }

    @Test("answers that are never read hold up nobody, and their connections are closed")
    func unread() async throws {
        var limits = AttackedDaemon.Limits()
        limits.others = ["slow-reader-milliseconds": 1_000, "failed-authentications-per-minute": 9]
        try await AttackedDaemon.withstands(limits) { attacked in
            let metrics = attacked.head("GET /metrics", token: "") + "\r\n"
            let connections = try await attacked.open(40, sending: String(repeating: metrics, count: 500), reads: false)
            // Closed because of what they have queued, or because they do not read; two are honest.
            while try await attacked.metric("kvsd_connections_open") > 2 {}
            for connection in connections { connection.channel.close(promise: nil) }
        }
    }
}
