import Foundation
import KVStoreCore
import NIOCore
import ServerTestSupport
import Testing

@testable import KVStoreServer

/// Answers larger than the buffers of the system, to clients that read them late.
@Suite("Unread answers", .timeLimit(.minutes(5)))
struct UnreadAnswerTests {
    /// Stores what makes an answer of 1 MB.
    private func large(_ test: TestServer) async throws {
        let value = String(repeating: "v", count: 1_000_000)
        _ = try await test.server.engine.sync(
            Samples.request([Samples.change("k", Samples.stamp(), value)]),
            store: StoreID(account: "default", name: "s"))
    }

    /// Connects, sends a request for the large answer, and reads nothing of it.
    private func asked(
        _ test: TestServer, _ port: Int, _ more: String
    ) async throws -> RawConnection {
        let connection = try await RawConnection.open(port: port, reads: false)
        try await connection.send(
            "GET /v1/stores/s/keys HTTP/1.1\r\nHost: localhost\r\n"
                + "Authorization: Bearer \(test.token(TestServer.laptop))\r\n\(more)\r\n")
        while test.server.metrics.counters.answers[2] == 0 { await Task.yield() }
        return connection
    }

    /// Whether the text is a head with as many bytes behind it as it announces.
    private func isComplete(_ answer: String) throws -> Bool {
        let head = try #require(answer.range(of: "\r\n\r\n"))
        let field = try #require(answer.range(of: "Content-Length: "))
        let count = try #require(Int(answer[field.upperBound...].prefix { $0.isNumber }))
        return answer[head.upperBound...].utf8.count == count
    }

    enum Closing: CaseIterable { case asked, halfClosed, both, stopped }

    @Test(
        "an answer is sent to its end, whoever closes the connection meanwhile",
        arguments: Closing.allCases)
    func complete(closing: Closing) async throws {
        let test = try TestServer()
        try await test.served { _, port in
            try await large(test)
            let connection = try await asked(
                test, port,
                closing == .asked || closing == .both ? "Connection: close\r\n" : "")
            if closing == .halfClosed || closing == .both {
                try await connection.channel.close(mode: .output)
            }
            if closing == .stopped { await test.server.stop() }
            try await connection.channel.setOption(.autoRead, value: true).get()
            #expect(try isComplete(await connection.rest()))
        }
    }

    @Test("a client that asked to close the connection and reads nothing is disconnected")
    func neverRead() async throws {
        var limits = TestServer.patient
        limits.slowReaderMilliseconds = 100
        let test = try TestServer(limits: limits)
        try await test.served { _, port in
            try await large(test)
            let connection = try await asked(test, port, "Connection: close\r\n")
            while test.server.metrics.counters.slowReaders == 0 { await Task.yield() }
            // The client of the test has one of its own.
            while test.server.metrics.counters.connections > 1 { await Task.yield() }
            await connection.close()
        }
    }

    @Test("a client that reads slowly is not disconnected while it makes progress")
    func slowProgress() async throws {
        var limits = TestServer.patient
        limits.slowReaderMilliseconds = 1_000
        let test = try TestServer(limits: limits)
        try await test.served { _, port in
            try await large(test)
            let connection = try await asked(test, port, "Connection: close\r\n")
            var (answer, pause) = ("", 150_000)
            connection.channel.read()
            for await buffer in connection.bytes {
                answer += String(buffer: buffer)
                if answer.utf8.count > pause {
                    // The pace of a slow reader: all of it takes longer than the deadline.
                    pause += 150_000
                    try await Task.sleep(for: .milliseconds(250))
                }
                connection.channel.read()
            }
            #expect(try isComplete(answer))
            #expect(test.server.metrics.counters.slowReaders == 0)
        }
    }
}
