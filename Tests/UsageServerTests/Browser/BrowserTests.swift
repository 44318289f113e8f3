import ServerTestSupport
import Foundation
import KVStoreServer
import TestSupport
import Testing

@Suite(
    "A browser of tests", .requiresBrowser, .serialized, .browser(acceptsInsecureCertificates: true),
    .timeLimit(.minutes(5)))
struct BrowserTests {
    /// Opens the page of a server.
    private func open(_ body: (Browser, PageServer) async throws -> Void) async throws {
        let browser = try #require(Browser.shared)
        let server = try await PageServer(browser)
        _ = try await (browser.complaints(), browser.requests())
        try await browser.open(server.url)
        try await body(browser, server)
        try await browser.open("about:blank")
    }

    private static let fetching = """
        fetch('/other', { cache: 'no-store' }).then(answer => done(answer.status), () => done('failed'))
        """

    @Test("a page and its screenshots have the requested size and color scheme")
    func sizes() async throws {
        try await open { browser, _ in
            for (width, height, scheme) in [(320, 700, "dark"), (2_560, 1_200, "light")] {
                try await browser.show(width: width, height: height, scheme: scheme)
                #expect(
                    try await browser.text(
                        "return `${innerWidth} ${matchMedia('(prefers-color-scheme: dark)').matches}`"
                    ) == "\(width) \(scheme == "dark")")
                let header = try await browser.screenshot().dropFirst(16).prefix(8)
                let size = stride(from: 0, to: 8, by: 4).map { offset in
                    header.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | Int($1) }
                }
                #expect(size == [width, height])
                try await browser.execute(
                    """
                    $('h1').style = 'position: fixed; right: 0; bottom: 0';
                    $('h1').onclick = () => { document.title = 'clicked at ' + innerWidth };
                    """)
                try await browser.click("h1")
                try await browser.wait("document.title === 'clicked at \(width)'")
            }
        }
    }

    @Test("uncaught errors, violations of the policy and errors on the console are complaints")
    func complaints() async throws {
        try await open { browser, _ in
            #expect(try await browser.complaints().isEmpty)
            try await browser.execute("$('#i').onfocus = () => first.undefined")
            try await browser.click("#i")
            try await browser.execute(
                """
                const image = new Image();
                image.onerror = () => { document.title = 'refused' };
                image.src = '/second.png';
                console.log('not this');
                console.error('third', { a: 1 });
                """)
            try await browser.wait("document.title === 'refused'")
            let found = try await browser.complaints()
            #expect(found.count == 3, "\(found)")
            for text in ["first is not defined", "/second.png", "third"] {
                #expect(found.contains { $0.contains(text) }, "\(text): \(found)")
            }
            #expect(try await browser.complaints().isEmpty)
        }
    }

    @Test("to measure a page before it has its styles is a complaint, to leave it then is none")
    func early() async throws {
        try await open { browser, server in
            // The others do not complain of it.
            guard browser.kind == .firefox else { return }
            for (path, complaintCount) in [("/unstyled", 0), ("/measured", 1)] {
                try await browser.execute("setTimeout(() => { location.pathname = '\(path)' })")
                // No frame is drawn meanwhile.
                while try await browser.text("return location.pathname + document.title") != path + "Ready" {
                    try Task.checkCancellation()
                }
                try await browser.open(server.url)
                let found = try await browser.complaints()
                #expect(found.count == complaintCount, "\(path): \(found)")
                #expect(
                    found.allSatisfy { $0.contains("Layout was forced") && $0.contains("/measured.js:2)") }, "\(found)")
            }
        }
    }

    @Test("the requests of pages are recorded with their outcomes")
    func requests() async throws {
        try await open { browser, server in
            try await browser.executeAsync("fetch('/none').then(() => done())")
            let found = try await browser.requests()
            #expect(found.map(\.url) == [server.url + "/", server.url + "/none"])
            #expect(found.map(\.status) == [200, 404])
            #expect(found.map(\.hasFailed) == [false, true])
            #expect(try await browser.requests().isEmpty)
        }
    }

    @Test("cookies are listed with their flags")
    func cookies() async throws {
        try await open { browser, _ in
            let cookie = try #require(try await browser.cookies().first)
            #expect(cookie.name == "session" && cookie.value == "secret" && cookie.path == "/")
            #expect(cookie.httpOnly && !cookie.secure && cookie.sameSite == "Strict")
        }
    }

    @Test("another window is opened, shown and closed")
    func windows() async throws {
        try await open { browser, server in
            let first = try await browser.window
            let second = try await browser.openWindow()
            try await browser.open(server.url + "/second")
            try await browser.show(width: 400)
            #expect(Set(try await browser.windows) == [first, second])
            #expect(try await browser.text("return location.pathname") == "/second")
            try await browser.go(to: first)
            #expect(try await browser.text("return location.pathname") == "/")
            try await browser.go(to: second)
            try await browser.closeWindow(thenGoTo: first)
            #expect(try await browser.windows == [first])
            #expect(try await browser.text("return location.pathname") == "/")
        }
    }

    @Test("a browser that is offline reaches no server, and reaches it again when it is online")
    func offline() async throws {
        try await open { browser, _ in
            try await browser.withoutNetwork {
                #expect(try await browser.executeAsync(Self.fetching) as? String == "failed")
                try await browser.wait("!navigator.onLine")
            }
            try await browser.wait("navigator.onLine")
            #expect(try await browser.executeAsync(Self.fetching) as? Int == 200)
        }
    }

    @Test("axe-core finds accessibility violations whatever the policy of the page is", .requiresAxe)
    func accessibility() async throws {
        try await open { browser, _ in
            let found = Set(try await browser.axe().map(\.rule))
            #expect(found == ["html-has-lang", "image-alt", "label"])
            #expect(try await browser.axe(tags: ["wcag22aa"]).isEmpty)
        }
    }

    @Test("an untrusted certificate is accepted if a suite asks for that")
    func certificate() async throws {
        let browser = try #require(Browser.shared)
        let server = try StoreServer(ServerConfiguration(storage: .temporary, encryption: .ownCertificate))
        async let serving: Void = server.run()
        let url = "https://127.0.0.1:\(try await server.port)/"
        try await browser.open(url)
        #expect(try await browser.text("return document.body.textContent").contains("404"))
        try await Browser.run(browser.kind) { strict in
            // Firefox throws, Chromium does not.
            try? await strict.open(url)
            let shown = try await strict.text("return document.body.textContent")
            #expect(!shown.contains("404"))
        }
        try await browser.open("about:blank")
        await server.stop()
        try await serving
    }
}

@Suite("The layout of a page")
struct LayoutTests {
    private static let stored = "main 0 10 320 900\n  section#a 8 0 304 40\n  section#b 8 40 304 40\n"

    @Test("is the same up to the rounding of fractions")
    func rounding() {
        let found = "main 0 11 320 898\n  section#a 8 0 304 41\n  section#b 8 41 304 40\n"
        #expect(Browser.differences(of: found, from: Self.stored).isEmpty)
    }

    @Test("differs if an element has another position, name or parent")
    func differences() {
        for (old, new) in [
            ("  section#b 8 40 304 40", "  section#b 8 43 304 40"),
            ("  section#b 8 40 304 40", "  section#c 8 40 304 40"),
            ("  section#b 8 40 304 40", "    section#b 8 40 304 40"),
        ] {
            let found = Self.stored.replacing(old, with: new)
            #expect(Browser.differences(of: found, from: Self.stored) == ["- \(old)", "+ \(new)"])
        }
        #expect(Browser.differences(of: Self.stored, from: "").count == 3)
        #expect(Browser.differences(of: "", from: Self.stored).first == "- main 0 10 320 900")
    }
}
