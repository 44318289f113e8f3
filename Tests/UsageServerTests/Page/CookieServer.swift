import Foundation
import TestSupport
import Testing

/// A server that is none of ours on another port of this host, which keeps what a browser sends to it.
struct CookieServer {
    private let program: RunningProgram
    let port: Int

    init(_ home: TemporaryHome) async throws {
        program = try RunningProgram(home, "/usr/bin/python3", ["-u", "-c", Self.script])
        port = try await program.output.port(after: "port ")
    }

    /// The field of the next request; empty without one.
    var cookie: String {
        get async throws {
            let line = await program.output.first { $0.hasPrefix("cookie ") }
            return String(try #require(line).dropFirst("cookie ".count))
        }
    }

    private static let script = """
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        class Page(BaseHTTPRequestHandler):
            def do_GET(self):
                print("cookie " + self.headers.get("Cookie", ""))
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<!doctype html><title>Another</title><link rel=icon href=data:>")

        server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        print("port", server.server_port)
        server.serve_forever()
        """
}
