import Foundation
import HTTPTypes
import KVStoreServer
import ServerTestSupport
import Testing

@testable import KVStoreEmulator

/// Pages that are not served by the emulator.
@Suite("Pages of other origins", .timeLimit(.minutes(2)))
struct CrossOriginTests {
    private static let origin = "http://localhost:5173"
    private static let fromPage: HTTPFields = [.origin: origin, HTTPField.Name("Sec-Fetch-Site")!: "cross-site"]

    private func allowed(_ answer: TestResponse) -> String? {
        answer.headers[.accessControlAllowOrigin]
    }

    @Test("a page of an allowed origin asks first, and reads every answer and every stream")
    func allowed() async throws {
        try await EmulatorClient.run(origins: [Self.origin]) { client in
            var asking = Self.fromPage
            asking[HTTPField.Name("Access-Control-Request-Method")!] = "PUT"
            for path in ["/v1/stores/s/keys/k", "/emulator/v1/worlds/w/clock", "/unknown"] {
                let answer = try await client.execute(.options, path, headers: asking)
                #expect(answer.status == .noContent && allowed(answer) == Self.origin)
                #expect(answer.headers[.accessControlAllowMethods]?.contains("PUT") == true)
                let fields = answer.headers[.accessControlAllowHeaders]?.lowercased() ?? ""
                #expect(fields.contains("authorization") && fields.contains("content-type"))
            }
            var writing = Self.fromPage
            writing[.contentType] = "application/octet-stream"
            let written = try await client.execute(
                .put, "/v1/stores/s/keys/k", token: "w/page", headers: writing, body: "x")
            #expect(written.status == .ok && allowed(written) == Self.origin)
            for (path, token) in [("/emulator/v1/worlds", nil), ("/v1/me", nil), ("/v1/me", "w/page")] {
                let answer = try await client.execute(.get, path, token: token, headers: Self.fromPage)
                #expect(allowed(answer) == Self.origin && answer.headers[.vary] == "Origin")
            }
            var reader = try await client.stream(
                "/v1/stores/s/changes", token: "w/page",
                more: "Origin: \(Self.origin)\r\nSec-Fetch-Site: cross-site\r\n")
            _ = await reader.next()
            let head = try #require(reader.head)
            #expect(head.contains("Access-Control-Allow-Origin: \(Self.origin)\r\n"))
            await reader.connection.close()
        }
    }

    @Test("no other page is answered, and without an allowed origin none")
    func refused() async throws {
        for (origins, asking) in [
            ([Self.origin], "http://localhost:5174"), ([Self.origin], "https://localhost:5173"),
            ([Self.origin], "null"), ([], Self.origin),
        ] {
            try await EmulatorClient.run(origins: origins) { client in
                for method in [HTTPRequest.Method.get, .options] {
                    let answer = try await client.execute(method, "/emulator/v1/worlds", headers: [.origin: asking])
                    #expect(answer.problemCode == "foreign-origin" && allowed(answer) == nil)
                }
                // A page that cannot read the answer sends no origin.
                let silent = try await client.execute(
                    .get, "/emulator/v1/worlds", headers: [HTTPField.Name("Sec-Fetch-Site")!: "cross-site"])
                #expect(silent.problemCode == "foreign-origin")
                let plain = try await client.execute(.get, "/emulator/v1/worlds")
                #expect(plain.status == .ok && allowed(plain) == nil)
            }
        }
    }

    @Test(
        "what a browser does not send as an origin is refused at the start",
        arguments: [
            "*", "null", "localhost:5173", "http://localhost:5173/", "http://", "HTTP://localhost",
            "ftp://localhost", "http://a b",
        ])
    func invalid(origin: String) {
        #expect(throws: ServerError.self) { try Emulator(origins: [origin]) }
        #expect(!Emulator.isValidOrigin(origin))
    }
}
