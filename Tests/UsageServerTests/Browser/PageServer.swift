import ServerTestSupport
import TestSupport
import Testing

/// A server of one page at every path but `/none`, with a strict policy and an HttpOnly cookie. At `/unstyled` and
/// `/measured` it waits for a style that never comes, at the second with a script that measures it.
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
                if self.path == "/never.css":
                    return self.rfile.read(1)
                if self.path.endswith(".js"):
                    self.send_response(200)
                    self.send_header("Content-Type", "text/javascript")
                    self.end_headers()
                    measure = b"\\ndocument.body.offsetTop;" if self.path == "/measured.js" else b""
                    return self.wfile.write(b"addEventListener('DOMContentLoaded', () => {" + measure +
                                            b"document.title = 'Ready' })")
                self.send_response(404 if self.path == "/none" else 200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Security-Policy",
                                 "default-src 'self'; img-src data:; require-trusted-types-for 'script'")
                self.send_header("Set-Cookie", "session=secret; HttpOnly; SameSite=Strict; Path=/")
                self.end_headers()
                late = b"<script src=%s.js></script><link rel=stylesheet href=never.css>" % self.path[1:].encode()
                self.wfile.write(b"<!doctype html><title>A page</title><link rel=icon href=data:>" +
                                 (late if self.path in ["/unstyled", "/measured"] else b"") +
                                 b"<h1>A page</h1><img src=data:><input id=i>")

        server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        print(server.server_port)
        server.serve_forever()
        """
}
