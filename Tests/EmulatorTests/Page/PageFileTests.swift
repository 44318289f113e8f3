import Foundation
import HTTPTypes
import KVStoreEmulator
import KVStoreServer
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

/// The files of the emulator's page over HTTP.
@Suite("The files of the emulator's page", .timeLimit(.minutes(5)))
struct PageFileTests {
    private static let sources = Repository.root.appending(path: "Sources")

    /// The files by name, with those that all pages share.
    private static func contents() throws -> [String: String] {
        var contents: [String: String] = [:]
        for directory in ["Testing/KVStoreEmulator/Page", "Server/KVStoreServer/Pages/Files"] {
            let directory = sources.appending(path: directory)
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
                contents[name] = try String(contentsOf: directory.appending(path: name), encoding: .utf8)
            }
        }
        return contents
    }

    @Test("the page is served at / and /emulator, without a token", arguments: ["/", "/emulator"])
    func page(path: String) async throws {
        try await EmulatorClient.run { client in
            let answer = try await client.execute(.get, path)
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentType] == "text/html; charset=utf-8")
            #expect(answer.text == (try Self.contents()["page.html"]))
            let head = try await client.execute(.head, path)
            #expect(head.status == .ok && head.text.isEmpty)
            #expect(try await client.execute(.post, path).status == .methodNotAllowed)
        }
    }

    @Test("each of its files is served with its type")
    func files() async throws {
        let types = [
            "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
            "svg": "image/svg+xml",
        ]
        let contents = try Self.contents().filter { $0.key != "page.html" }
        #expect(contents.count > 5)
        try await EmulatorClient.run { client in
            for (name, content) in contents {
                let answer = try await client.execute(.get, "/emulator/\(name)")
                #expect(answer.status == .ok, "\(name)")
                #expect(answer.headers[.contentType] == types[String(name.split(separator: ".").last ?? "")], "\(name)")
                #expect(answer.text == content, "\(name)")
                let tag = try #require(answer.headers[.eTag])
                let again = try await client.execute(.get, "/emulator/\(name)", headers: [.ifNoneMatch: tag])
                #expect(again.status == .notModified && again.text.isEmpty, "\(name)")
                // The tests in browsers show that they can read it.
                let deflated = try await client.execute(
                    .get, "/emulator/\(name)", headers: [.acceptEncoding: "gzip, deflate, br"])
                if deflated.headers[.contentEncoding] == "deflate" {
                    #expect(deflated.body.readableBytes < content.utf8.count, "\(name)")
                    #expect(deflated.headers[.eTag] != tag, "\(name)")
                } else {
                    #expect(deflated.text == content, "\(name)")
                }
            }
            for path in ["/emulator/", "/emulator/page.html", "/emulator/none.js", "/page.js", "/index.html"] {
                #expect(try await client.execute(.get, path).status == .notFound, "\(path)")
            }
        }
    }

    @Test("a daemon has no page")
    func daemon() async throws {
        let server = try StoreServer(ServerConfiguration(storage: .temporary))
        async let serving: Void = server.run()
        let client = TestClient(port: try await server.port)
        for path in ["/", "/emulator", "/emulator/page.js", "/emulator/page.css"] {
            #expect(try await client.execute(uri: path, method: .get).status == .notFound, "\(path)")
        }
        await client.close()
        await server.stop()
        try await serving
    }

    @Test("the headers confine the page to its own files and its own emulator")
    func headers() async throws {
        try await EmulatorClient.run { client in
            for path in ["/", "/emulator/page.css"] {
                let headers = try await client.execute(.get, path).headers
                func header(_ name: String) -> String? {
                    HTTPField.Name(name).flatMap { headers[$0] }
                }
                let policy = try #require(header("Content-Security-Policy"))
                for directive in [
                    "default-src 'none'", "script-src 'self'", "style-src 'self'",
                    "connect-src 'self'", "frame-ancestors 'none'",
                    "require-trusted-types-for 'script'",
                ] {
                    #expect(policy.components(separatedBy: "; ").contains(directive), "\(directive)")
                }
                #expect(!policy.contains("unsafe"))
                for (name, value) in [
                    ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                    ("Cache-Control", "no-cache"),
                ] {
                    #expect(header(name) == value, "\(name)")
                }
            }
        }
    }
}
