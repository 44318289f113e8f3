import Foundation
import KVStoreCore
import NIOCore
import ServerTestSupport
import StoreTestSupport
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

    /// Connects, sends requests for large answers until no more fit the buffers of the system, and reads nothing.
    private func asked(_ test: TestServer, _ port: Int, _ more: String = "") async throws -> RawConnection {
        let connection = try await RawConnection.open(port: port, reads: false)
        let start = "GET /v1/stores/s/keys/k"
        try await connection.send(String(repeating: test.request(start), count: 19) + test.request(start, more))
        try await wait { test.server.metrics.counters.answers[2] > 0 }
        return connection
    }

    /// The number of answers, which are all as long as they announce.
    private func count(_ answers: String) throws -> Int {
        let answers = answers.components(separatedBy: "HTTP/1.1 200 OK").dropFirst()
        for answer in answers {
            let head = try #require(answer.range(of: "\r\n\r\n"))
            let field = try #require(answer.range(of: "Content-Length: "))
            let count = try #require(Int(answer[field.upperBound...].prefix { $0.isNumber }))
            #expect(answer[head.upperBound...].utf8.count == count)
        }
        return answers.count
    }

    enum Closing: CaseIterable { case asked, halfClosed, both, stopped }

    @Test("an answer is sent to its end, whoever closes the connection meanwhile", arguments: Closing.allCases)
    func complete(closing: Closing) async throws {
        let test = try TestServer()
        try await test.served { _, port in
            try await large(test)
            let isAsked = closing == .asked || closing == .both
            let connection = try await asked(test, port, isAsked ? "Connection: close\r\n" : "")
            if closing == .halfClosed || closing == .both {
                try await connection.channel.close(mode: .output).get()
            }
            if closing == .stopped { await test.server.stop() }
            try await connection.channel.setOption(.autoRead, value: true).get()
            let count = try count(await connection.rest())
            #expect(closing == .stopped ? (1...20).contains(count) : count == 20)
        }
    }

    @Test("a client that asked to close the connection and reads nothing is disconnected")
    func neverRead() async throws {
        let test = try TestServer { $0.slowReaderMilliseconds = 100 }
        try await test.served { _, port in
            try await large(test)
            let connection = try await asked(test, port, "Connection: close\r\n")
            try await wait { test.server.metrics.counters.slowReaders > 0 }
            // That of the test's client has not been opened.
            try await wait { test.server.metrics.counters.connections == 0 }
            await connection.close()
        }
    }

    @Test("a client that reads slowly but steadily gets its answers, however long that takes")
    func slowlyRead() async throws {
        let test = try TestServer { $0.slowReaderMilliseconds = 500 }
        try await test.served { _, port in
            try await large(test)
            let connection = try await asked(test, port)
            // An answer takes longer than the deadline at this rate.
            let reads = connection.channel.eventLoop.scheduleRepeatedTask(
                initialDelay: .zero, delay: .milliseconds(20)
            ) { _ in connection.channel.read() }
            var count = 0
            for await bytes in connection.bytes {
                count += bytes.readableBytes
                if count > 4_000_000 { break }
            }
            reads.cancel()
            #expect(count > 4_000_000)
            #expect(test.server.metrics.counters.slowReaders == 0)
            await connection.close()
        }
    }

    @Test("a connection without a token that reads no answers cannot queue requests")
    func strangersQueue() async throws {
        let test = try TestServer { $0.slowReaderMilliseconds = 3_600_000 }
        try await test.served { _, port in
            let connection = try await RawConnection.open(port: port, reads: false)
            let requests = String(repeating: "GET /v1/me HTTP/1.1\r\n\r\n", count: 50_000)
            connection.channel.writeAndFlush(ByteBuffer(string: requests), promise: nil)
            try await wait { test.server.metrics.counters.refusals["unauthorized", default: 0] > 0 }
            try await wait { test.server.metrics.counters.connections == 0 }
            await connection.close()
        }
    }
}
