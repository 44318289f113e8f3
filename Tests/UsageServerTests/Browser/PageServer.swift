import ServerTestSupport
import TestSupport
import Testing

/// A server of one page at every path but `/none`, with a strict policy and an HttpOnly cookie.
struct PageServer {
    private let program: RunningProgram
    let url: String

    init(_ browser: Browser) async throws {
        program = try RunningProgram(browser.home, "/usr/bin/python3", ["-u", "-c", Self.script])
        let port = try #require(await program.output.first { _ in true })
        url = "http://127.0.0.1:\(port)"
    }

    private static let script = """
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        class Page(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(404 if self.path == "/none" else 200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Security-Policy",
                                 "default-src 'self'; img-src data:; require-trusted-types-for 'script'")
                self.send_header("Set-Cookie", "session=secret; HttpOnly; SameSite=Strict; Path=/")
                self.end_headers()
                self.wfile.write(b"<!doctype html><title>A page</title><link rel=icon href=data:>"
                                 b"<h1>A page</h1><img src=data:><input id=i>")

        server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        print(server.server_port)
        server.serve_forever()
        """
}
