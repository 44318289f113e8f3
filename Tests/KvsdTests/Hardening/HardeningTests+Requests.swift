import Foundation
import HTTPTypes
import NIOCore
import ServerTestSupport
import Testing

/// Requests that two parsers may understand differently, and requests of foreign pages.
extension HardeningTests {
    /// Header fields and body of a first request, whose answer must be the only one.
    private static let smuggling: [(fields: String, body: String)] = [
        ("Content-Length: 2\r\nContent-Length: SIZE\r\n", "{}"),
        ("Content-Length: SIZE\r\nContent-Length: 2\r\n", ""),
        ("Content-Length: 2, SIZE\r\n", "{}"),
        ("Content-Length: +2\r\n", "{}"),
        ("Content-Length: -2\r\n", "{}"),
        ("Content-Length: 0x2\r\n", "{}"),
        ("Content-Length: 18446744073709551618\r\n", "{}"),
        ("Content-Length:\r\n", "{}"),
        ("Content-Length : 2\r\n", "{}"),
        ("Content-Length: SIZE\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: identity, chunked\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
        ("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"),
        ("X: a\r\n Content-Length: 2\r\n", ""),
        ("X: a\rContent-Length: 2\r\n", "{}"),
        ("X: a\nContent-Length: 2\n", "{}"),
        ("X: a\0b\r\nContent-Length: 2\r\n", "{}"),
        ("Host: other\r\nContent-Length: SIZE\r\n", ""),
        ("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\n", "-1\r\n"),
        ("Transfer-Encoding: chunked\r\n", "0x2\r\n{}\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\n", "10000000000000002\r\n{}\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\n", "FFFFFFFFFFFFFFFF\r\n"),
        ("Transfer-Encoding: chunked\r\n", "2;a\n{}\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\n", "2\n{}\n0\n\n"),
        ("Transfer-Encoding: chunked\r\n", "2\r\n{}0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\nX\r\n\r\n"),
        ("Content-Encoding: gzip\r\nContent-Length: SIZE\r\n", ""),
        ("Upgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 2\r\n", "{}"),
        ("Connection: close\r\nContent-Length: 2\r\n", "{}"),
    ]

    @Test("no second request is found in the body of a first one")
    func smuggled() async throws {
        try await AttackedDaemon.withstands { attacked in
            let marker =
                attacked.head(
                    "PUT /v1/stores/s/keys/marker",
                    "Content-Type: application/octet-stream\r\nContent-Length: 1\r\n\r\n") + "x"
            for (fields, body) in Self.smuggling {
                let fields = fields.replacing("SIZE", with: "\(body.utf8.count + marker.utf8.count)")
                let answers = try await attacked.answers(
                    to: attacked.head("POST /v1/stores/s/sync", fields) + "\r\n" + body + marker)
                #expect(answers.statuses.count == 1, "\(fields): \(answers)")
                #expect(answers.statuses.first.map { (400..<500).contains($0) } == true)
            }
            let read = attacked.head("GET /v1/stores/s/keys/marker") + "\r\n"
            #expect(try await attacked.answers(to: read).statuses == [404])
            // The marker could be written: the same request, on its own.
            #expect(try await attacked.answers(to: marker + read).statuses == [200, 200])
        }
    }

    @Test("chunk extensions and trailers change neither the body nor what follows it")
    func extensions() async throws {
        try await AttackedDaemon.withstands { attacked in
            let answers = try await attacked.answers(
                to: attacked.head(
                    "PUT /v1/stores/s/keys/k",
                    "Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
                    + "2;a=\"b\"\r\nxy\r\n0\r\nX: a\r\nAuthorization: none\r\n\r\n"
                    + attacked.head("GET /v1/stores/s/keys/k", "Accept: application/octet-stream\r\n")
                    + "\r\n")
            #expect(answers.statuses == [200, 200])
            #expect(answers.text.hasSuffix("\r\n\r\nxy"), "\(answers)")
        }
    }

    @Test("no trick with a path leads to another resource")
    func paths() async throws {
        let texts: [(String, Int)] =
            [
                ("..", 400), ("/..", 404), ("/v1/../metrics", 404), ("/v1/stores/../me", 404),
                ("/v1/stores/%2e%2e/keys", 400), ("/v1/stores/../../devices.json", 404),
                ("/%2e%2e/devices.json", 404), ("//v1/me", 404), ("/v1//me", 404), ("/v1/me/", 404),
                ("/v1/me;a", 404), ("/v1/me%00", 404), ("/v1/me%2f", 404), ("/v1/%6de", 404),
                ("/V1/me", 404), ("/v1\\me", 404), ("http://localhost/v1/me", 404),
                ("http://example.org/v1/me", 404), ("*", 404), ("", 400), ("/v1/me\0", 400),
                ("/v1/stores/s%2fkeys/keys", 400), ("/v1/stores/s%00/keys", 400),
                ("/v1/stores/%ff/keys", 400), ("/v1/stores/s/keys/%c0%af", 400),
                ("/v1/stores/s/keys/%ed%a0%80", 400), ("/v1/stores/s/keys/%", 400),
                ("/v1/stores/\(String(repeating: "s", count: 4_000))/keys", 400),
                ("/v1/stores/s/keys/\(String(repeating: "k", count: 4_000))", 400),
                ("/\(String(repeating: "a", count: 20_000))", 431),
            ]
        var targets = texts.map { (target: Array($0.0.utf8), status: $0.1) }
        targets.append((Array("/v1/stores/s/keys/".utf8) + [0xff], 400))
        try await AttackedDaemon.withstands { attacked in
            for (target, status) in targets {
                var request = ByteBuffer(string: "GET ")
                request.writeBytes(target)
                request.writeString(attacked.head("") + "\r\n")
                let answers = try await attacked.answers(to: request)
                #expect(
                    answers.statuses == [status],
                    "\(String(decoding: target.prefix(80), as: UTF8.self)): \(answers)")
            }
        }
    }

    @Test("invalid UTF-8 is refused wherever text is expected")
    func text() async throws {
        try await AttackedDaemon.withstands { attacked in
            for (before, after, status) in [
                (attacked.head("GET /v1/me", token: "", "Authorization: Bearer ubq_"), "\r\n\r\n", 401),
                (attacked.head("GET /v1/me", token: "") + "X-", ": a\r\n\r\n", 400),
                (
                    attacked.head("POST /v1/stores/s/sync", "Content-Length: 20\r\n\r\n")
                        + #"{"replica":"8f3"#, #"","a"#, 400
                ),
            ] {
                var request = ByteBuffer(string: before)
                request.writeBytes([0xff])
                request.writeString(after)
                let answers = try await attacked.answers(to: request)
                #expect(answers.statuses == [status], "\(answers)")
            }
        }
    }

    @Test("a page of another site can neither use nor read the daemon")
    func pages() async throws {
        try await AttackedDaemon.withstands { attacked in
            let put = "Content-Type: text/plain\r\nContent-Length: 1\r\n"
            for origin in [
                "http://example.org", "https://localhost.example.org", "http://localhost:1", "null",
                "http://", "localhost", "",
            ] {
                for start in ["PUT /v1/stores/s/keys/k", "POST /v1/pair"] {
                    let refused = try await attacked.answers(
                        to: attacked.head(start, "Origin: \(origin)\r\n\(put)\r\n") + "x")
                    #expect(refused.statuses == [403], "\(origin): \(refused)")
                    #expect(refused.codes == ["foreign-origin"])
                    expectNoSharing(refused)
                }
                let preflight = try await attacked.answers(
                    to: attacked.head(
                        "OPTIONS /v1/stores/s/keys/k", token: "",
                        "Origin: \(origin)\r\nAccess-Control-Request-Method: PUT\r\n") + "\r\n")
                #expect(preflight.statuses == [403], "\(preflight)")
                expectNoSharing(preflight)
            }
            let own = try await attacked.answers(
                to: attacked.head("GET /v1/stores/s/keys/k", "Origin: https://LocalHost\r\n")
                    + "\r\n")
            #expect(own.statuses == [404])
            expectNoSharing(own)
            // A name of the attacker that resolves to the daemon carries no token.
            let rebound = try await attacked.answers(
                to: "GET /v1/me HTTP/1.1\r\nHost: example.org\r\nOrigin: http://example.org\r\n\r\n"
            )
            #expect(rebound.statuses == [401])
            expectNoSharing(rebound)
        }
    }

    private func expectNoSharing(_ answers: Answers) {
        #expect(!answers.text.lowercased().contains("access-control"), "\(answers)")
    }
}
