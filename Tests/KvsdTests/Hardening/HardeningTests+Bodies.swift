import Foundation
import NIOCore
import ServerTestSupport
import Testing

/// Requests that are many, large or expensive to decode.
extension HardeningTests {
    @Test("of a flood of requests no more are evaluated than the limits permit, and a kill after it loses nothing")
    func requests() async throws {
        var limits = AttackedDaemon.Limits()
        limits.others = ["requests-per-second": 1, "request-burst": 10]
        try await AttackedDaemon.withstands(limits, isKilled: true) { attacked in
            let request = attacked.head("GET /v1/me") + "\r\n"
            let permitted = try await attacked.answers(
                to: String(repeating: request, count: 500), connections: 16
            ).flatMap(\.statuses)
            // A connection that queues more than it may is closed before everything is answered.
            #expect(permitted.count > 200)
            #expect(permitted.allSatisfy { [200, 429].contains($0) })
            #expect(permitted.filter { $0 == 200 }.count < 100)
            let unknown = attacked.head("GET /v1/me", token: "ubq_unknown") + "\r\n"
            let refused = try await attacked.answers(
                to: String(repeating: unknown, count: 500), connections: 16
            ).flatMap(\.statuses)
            #expect(refused.count > 100)
            #expect(refused.allSatisfy { [401, 429].contains($0) })
            #expect(refused.filter { $0 == 401 }.count < 100)
        }
    }

    @Test("bodies beyond the limit on memory are refused before they are sent")
    func bodies() async throws {
        try await AttackedDaemon.withstands { attacked in
            // Four of them fit.
            let head = attacked.head(
                "POST /v1/stores/s/sync",
                "Content-Type: application/json\r\nContent-Length: 2000000\r\n"
                    + "Expect: 100-continue\r\n\r\n")
            let connections = try await attacked.open(24, sending: head)
            var accepted: [RawConnection] = []
            for connection in connections {
                var iterator = connection.bytes.makeAsyncIterator()
                let first = try #require(await iterator.next())
                let answers = Answers(String(buffer: first))
                if answers.statuses == [100] {
                    accepted.append(connection)
                } else {
                    #expect(answers.statuses == [503] && answers.codes == ["busy"], "\(answers)")
                }
            }
            #expect(accepted.count == 4)
            let body = String(repeating: " ", count: 2_000_000)
            for connection in accepted { try await connection.send(body) }
            for connection in accepted { try await connection.wait(for: "HTTP/1.1 400 ") }
            for connection in connections { connection.channel.close(promise: nil) }
        }
    }

    @Test("a flood of bodies of 2 MiB without a token is dropped")
    func strangersBodies() async throws {
        try await AttackedDaemon.withstands { attacked in
            let request =
                attacked.head("POST /v1/stores/s/sync", token: "", "Content-Length: 2097152\r\n\r\n")
                + String(repeating: " ", count: 2_097_152)
            let answers = try await attacked.answers(to: request, connections: 32)
            #expect(answers.allSatisfy { [[401], [429]].contains($0.statuses) }, "\(answers)")
        }
    }

    @Test("a compressed body is refused before it is sent")
    func bomb() async throws {
        try await AttackedDaemon.withstands { attacked in
            for encoding in ["gzip", "deflate", "br", "zstd", "identity, gzip", "GZIP"] {
                let answers = try await attacked.answers(
                    to: attacked.head(
                        "PUT /v1/stores/s/keys/bomb",
                        "Content-Encoding: \(encoding)\r\nContent-Length: 2000000\r\n\r\n"))
                #expect(answers.statuses == [415], "\(answers)")
                #expect(answers.codes == ["content-encoding"])
            }
        }
    }

    private static let sync = #"{"replica":"8f3ac0de51b20417","changes":"#
    private static let million = "[" + String(repeating: "0,", count: 999_999) + "0]"

    enum Decoded: String, CaseIterable, CustomTestStringConvertible {
        case arrays, objects, arraysInField, million, millionChanges, loneSurrogate

        var testDescription: String { rawValue }

        var body: String {
            switch self {
            case .arrays: String(repeating: "[", count: 100_000)
            case .objects: String(repeating: #"{"a":"#, count: 100_000)
            case .arraysInField: HardeningTests.sync + String(repeating: "[", count: 100_000)
            case .million: HardeningTests.million
            case .millionChanges: HardeningTests.sync + HardeningTests.million + "}"
            case .loneSurrogate: #"{"replica":"\ud800"}"#
            }
        }

        var code: String {
            switch self {
            case .arrays, .objects, .arraysInField: "too-deep"
            case .million, .millionChanges, .loneSurrogate: "malformed"
            }
        }
    }

    @Test("JSON that is deep or has a million elements is refused", arguments: Decoded.allCases)
    func json(decoded: Decoded) async throws {
        var limits = AttackedDaemon.Limits()
        // With a million elements; large bodies are decoded one at a time.
        limits.transientByteCount = 28 << 20
        try await AttackedDaemon.withstands(limits) { attacked in
            let body = decoded.body
            let request =
                attacked.head(
                    "POST /v1/stores/s/sync",
                    "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
                + body
            for answers in try await attacked.answers(to: request, connections: 3) {
                #expect(answers.statuses == [400] && answers.codes == [decoded.code], "\(answers)")
            }
        }
    }
}
