import Foundation
import HTTPTypes
import NIOCore
import NIOSSL
import ServerTestSupport
import Synchronization

/// A device that writes a key and reads it back, again and again, over one connection.
final class HonestClient: Sendable {
    private struct State {
        var isStopped = false
        var acknowledged: [String: String] = [:]
        /// What was sent since, without an answer: a daemon that is killed may have stored it.
        var unanswered: [String: [String]] = [:]
        var failures: [String] = []
    }

    private static let failureLimit = 8

    private let fields: HTTPFields
    private let state = Mutex(State())
    private let rounds: AsyncStream<Void>
    private let finishedRound: AsyncStream<Void>.Continuation

    init(token: String) {
        fields = [.authorization: "Bearer \(token)", .contentType: "application/octet-stream"]
        (rounds, finishedRound) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// What was not answered as it should have been.
    var failures: [String] { state.withLock { $0.failures } }

    /// Until ``stop()``.
    func run(_ client: TestClient) async {
        for round in 0..<Int.max {
            guard state.withLock({ !$0.isStopped && $0.failures.count < Self.failureLimit }) else { break }
            do {
                let (uri, value) = ("/v1/stores/honest/keys/k\(round % 50)", "v\(round)")
                state.withLock { $0.unanswered[uri, default: []].append(value) }
                let put = try await client.execute(
                    uri: uri, method: .put, headers: fields, body: ByteBuffer(string: value))
                expect(put.status == .ok, "PUT: \(put.status)")
                if put.status == .ok {
                    state.withLock {
                        $0.acknowledged[uri] = value
                        $0.unanswered[uri] = nil
                    }
                }
                let found = try await get(uri, client)
                expect(found == value, "GET: \(found), not \(value)")
            } catch {
                expect(false, "\(error)")
            }
            finishedRound.yield()
        }
        finishedRound.finish()
        await client.close()
    }

    /// Waits until a round has ended that had not when this was called, or none will.
    func waitForRounds(_ count: Int) async {
        var iterator = rounds.makeAsyncIterator()
        // The first may have ended before.
        for _ in 0...count where await iterator.next() == nil { return }
    }

    func stop() { state.withLock { $0.isStopped = true } }

    /// Reads everything that was acknowledged; returns the keys that have neither that value nor one sent since.
    func lost(from client: TestClient) async throws -> [String] {
        var lost: [String] = []
        let (acknowledged, unanswered) = state.withLock { ($0.acknowledged, $0.unanswered) }
        for (uri, value) in acknowledged {
            let found = try await get(uri, client)
            if found != value, unanswered[uri]?.contains(found) != true { lost.append(uri) }
        }
        return lost
    }

    private func get(_ uri: String, _ client: TestClient) async throws -> String {
        let fields: HTTPFields = [.authorization: fields[.authorization]!, .accept: "application/octet-stream"]
        return try await client.execute(uri: uri, method: .get, headers: fields).text
    }

    private func expect(_ isExpected: Bool, _ failure: @autoclosure () -> String) {
        if !isExpected { state.withLock { $0.failures.append(failure()) } }
    }
}
