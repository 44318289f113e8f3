import ServerTestSupport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Signing in, which makes a browser a device of the account, and signing out.
extension UsagePageTests {
    @Test("an address with a code signs in, and no code stays in the browser")
    func signingIn() async throws {
        try await open(signsIn: false) { browser, daemon in
            try await browser.withNewWindow {
                try await browser.open(daemon.url)
                let former = try await browser.text("return history.length")
                try await signIn(browser, daemon)
                // The address has added one entry, the current one.
                let entry = try await browser.text("return [location.href, history.length]")
                let expected = try await browser.text("return ['\(daemon.url)', \(former) + 1]")
                #expect(entry == expected)
            }
            let cookie = try #require(try await browser.cookies().first { $0.name == "__Host-ubiquity" })
            #expect(cookie.path == "/")
            #expect(cookie.domain == "127.0.0.1", "only this host")
            #expect(cookie.httpOnly && cookie.secure && cookie.sameSite == "Strict")
            let kept = try await browser.text(
                "return document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })")
            #expect(!kept.contains(cookie.value))
            let devices = try await daemon.kvsd(["device", "list"])
            #expect(devices.contains(#/(Chrome|Firefox) on Linux +page +default +read /#), "\(devices)")

            // A browser that is signed in does not use another code.
            try await browser.open(try await daemon.address())
            try await browser.wait(shows("signed in as", in: "#status"))
            #expect(try await browser.text("return location.hash") == "")
        }
    }

    @Test("a browser that has removed everything scripts stored signs in again, and shows nothing before")
    func removedStorage() async throws {
        try await open { browser, daemon in
            try await browser.execute("localStorage.clear()")
            try await browser.reload()
            try await browser.wait("$('form.signin') && !$('.card')")
            try await signIn(browser, daemon)
        }
    }

    @Test("what the browser sends to another server of the host does not open the daemon")
    func otherPort() async throws {
        try await open { browser, daemon in
            let other = try await CookieServer(daemon.home)
            try await browser.open("http://127.0.0.1:\(other.port)/")
            let sent = try await other.cookie
            let answer = try await daemon.send(.get, "/v1/me", ["Cookie": sent, "Sec-Fetch-Site": "same-origin"])
            #expect(answer.status == .unauthorized)
            let kept = try await browser.text("return JSON.stringify({ ...localStorage })")
            #expect(kept == "{}", "another port is another origin")
        }
    }

    @Test("a refused code is explained, with the next step")
    func badCodes() async throws {
        try await open(signsIn: false) { browser, daemon in
            func refused(_ address: String, _ reason: String) async throws {
                try await browser.fill("#code", address)
                try await browser.click("form.signin button.primary")
                try await browser.wait(shows(reason, in: "#status"))
                try await browser.wait(shows("Next: ", in: "#status"))
                try await browser.wait(shows("kvsd pair --page", in: "#status"))
                try await browser.execute("document.getElementById('status').textContent = ''")
            }
            let used = try await daemon.address()
            let code = try #require(used.split(separator: "#").last)
            let other = try await daemon.send(
                .post, "/v1/session",
                ["Content-Type": "application/json", "Authorization": "none", "Sec-Fetch-Site": "same-origin"],
                body: #"{"code":"\#(code)"}"#)
            #expect(other.status == .ok)
            try await refused(used, "Used code")
            try await refused(String(used.dropLast(3) + "AAA"), "Wrong code")
            try await refused("no code", "Wrong code")
            let line = try await daemon.kvsd(["pair"])
            let ofProgram = try #require(line.split(separator: "/").dropLast().last)
            try await refused(String(ofProgram), "Code of a program")
            let expired = try await daemon.address()
            try daemon.changePairings { $0["created"] = 1_000 }
            try await refused(expired, "Expired code")
            let guessed = try await daemon.address()
            try daemon.changePairings { $0["state"] = "void" }
            try await refused(guessed, "Void code")
            let asked = try await browser.executeAsync("fetch('/v1/me').then(a => done(a.status))")
            #expect(asked as? Int == 401)

            let page = try await daemon.address()
            let pageCode = try #require(page.split(separator: "#").last)
            let joined = try await daemon.home.kvs("join", "ubiquity://127.0.0.1:\(daemon.port)/\(pageCode)/http")
            #expect(joined.status != 0)
            #expect(joined.errors.contains("signs in a web page"), "\(joined.errors)")
            #expect(joined.errors.contains("in a browser"), "\(joined.errors)")
            // A browser can still use it.
            try await browser.fill("#code", page)
            try await browser.click("form.signin button.primary")
            try await browser.wait("document.querySelectorAll('.card').length === 2")
        }
    }

    @Test("a browser that blocks cookies or storage uses up no code, and says what to do")
    func blockedStorage() async throws {
        let browser = try #require(Browser.shared)
        let daemon = try await PageDaemon()
        try await daemon.push()
        _ = try await (browser.complaints(), browser.requests())
        let address = try await daemon.address()
        try await browser.withBlockedStorage {
            try await browser.open(address)
            try await browser.wait(shows("blocks cookies or the storage", in: "#list h2"))
            try await browser.wait(shows("Allow 127.0.0.1:\(daemon.port)", in: "#list p"))
            #expect(try await !daemon.kvsd(["device", "list"]).contains(" page "))
        }
        try await browser.click("#list button")
        try await browser.wait("document.querySelectorAll('.card').length === 2")
        // Firefox writes that it has refused what the page tried.
        let complaints = try await browser.complaints().filter { !$0.hasPrefix("cookieBlocked") }
        #expect(complaints.isEmpty, "\(complaints)")
        try await browser.deleteCookies()
        try await browser.open("about:blank")
    }

    @Test("the page of a daemon to which nothing was pushed names the next command")
    func fresh() async throws {
        let browser = try #require(Browser.shared)
        let daemon = try await PageDaemon()
        _ = try await (browser.complaints(), browser.requests())
        try await browser.open(try await daemon.address())
        try await browser.wait(shows("ubq up", in: ".empty li"))
        try await browser.wait(shows("ubq add HOST", in: ".empty li"))
        try await browser.deleteCookies()
        try await browser.open("about:blank")
    }

    @Test("the cookie is refused outside the page")
    func elsewhere() async throws {
        try await open { browser, daemon in
            let cookie = try #require(try await browser.cookies().first { $0.name == "__Host-ubiquity" })
            let secret = try await browser.text("return localStorage.session")
            func status(
                _ headers: [String: String], _ method: HTTPRequest.Method = .get, _ path: String = "/v1/me"
            ) async throws -> Int {
                let fields = headers.merging([
                    "Cookie": "a=b; \(cookie.name)=\(cookie.value)", "Ubiquity-Session": secret,
                ]) { $1 }
                return try await daemon.send(method, path, fields, body: nil).status.code
            }
            #expect(try await status(["Sec-Fetch-Site": "same-origin"]) == 200)
            for site in ["cross-site", "same-site", "none", ""] {
                #expect(try await status(["Sec-Fetch-Site": site]) == 401)
            }
            #expect(try await status([:]) == 401)
            let foreign = ["Sec-Fetch-Site": "same-origin", "Origin": "https://site.example.test"]
            #expect(try await status(foreign) == 403)
            #expect(try await status(foreign, .post, "/v1/session") == 403)
            // A page without the scope write.
            let own = ["Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"]
            for (method, path) in [
                (.put, "/v1/stores/default/keys/a"), (.delete, "/v1/stores/default/keys/a"),
                (.delete, "/v1/devices/x"), (.post, "/v1/pairings"),
            ] as [(HTTPRequest.Method, String)] {
                #expect(try await status(own, method, path) == 403, "\(method) \(path)")
            }

            // Another name of the daemon is another host, to which the cookie is not sent.
            try await browser.open("http://localhost:\(daemon.port)/")
            try await browser.wait("$('form.signin')")
            try await browser.executeAsync("fetch('/v1/me').then(answer => { document.title = answer.status; done() })")
            #expect(try await browser.text("return document.title") == "401")
            _ = try await browser.requests()

            // The page of another site can neither frame it nor send a code to it.
            try await browser.open("http://localhost:\(daemon.port)/healthz")
            try await browser.executeAsync(
                """
                const frame = document.createElement('iframe');
                frame.src = '\(daemon.url)';
                const loaded = new Promise(resolve => { frame.onload = resolve });
                document.body.append(frame);
                fetch('\(daemon.url)v1/session', { method: 'POST', mode: 'no-cors', body: '{}' })
                    .catch(() => 0).then(() => loaded).then(() => done());
                """)
            #expect(try await !browser.complaints().isEmpty, "the browser refuses the frame")
            let requests = try await browser.requests()
            #expect(!requests.contains { $0.url.hasSuffix("page.js") })
            #expect(requests.contains { $0.url.hasSuffix("session") && $0.status ?? 0 >= 400 })
        }
    }

    @Test("removing the device or signing out clears the page at once")
    func leaving() async throws {
        try await open { browser, daemon in
            #expect(try await daemon.streamCount() == 1)
            try await daemon.removePage()
            try await browser.wait(shows("This page has been signed out (", in: "#status"))
            try await browser.wait(shows("has been removed from the account", in: "#status"))
            #expect(try await browser.text(Self.remains) == "[0,0,0,0]")
            #expect(try await daemon.streamCount() == 0)
            try await browser.reload()
            try await browser.wait("$('form.signin')")

            try await signIn(browser, daemon)
            let complaints = try await browser.complaints()
            #expect(complaints.isEmpty, "\(complaints)")
            // Where no script of the page can notice, and say so before it is loaded.
            try await browser.open(daemon.url + "/page/page.css")
            try await browser.deleteCookies()
            // A style has no icon, about which Firefox complains.
            _ = try await browser.complaints()
            try await browser.open(daemon.url)
            try await browser.wait(shows("the browser does not send its cookie any more", in: "#status"))
            try await daemon.removePage()

            try await signIn(browser, daemon)
            try await browser.withNewWindow {
                try await browser.open(daemon.url)
                try await go(to: "settings", browser)
                try await browser.execute("$('#list > .row button').click()")
                try await browser.wait("$('#dialog').open")
                try await browser.click("#dialog-action")
                try await browser.wait("$('form.signin')")
                #expect(try await browser.text(Self.remains) == "[0,0,0,0]")
                // The stream may end before the answer arrives.
                while try await !browser.cookies().isEmpty { try Task.checkCancellation() }
                #expect(try await !daemon.kvsd(["device", "list"]).contains(" page "))
                try await browser.open("about:blank")
            }
            try await browser.wait("$('form.signin')")
            #expect(try await browser.text(Self.remains) == "[0,0,0,0]")
        }
    }

    @Test("a window says why another one was signed out")
    func otherWindow() async throws {
        try await open { browser, daemon in
            let first = try await browser.window
            let second = try await browser.openWindow(hidesOthers: false)
            try await browser.open(daemon.url)
            try await browser.wait("$('#link').textContent === 'live'")
            try await daemon.removePage()
            for window in [first, second] {
                try await browser.go(to: window)
                try await browser.wait(shows("has been removed from the account", in: "#status"))
                #expect(try await browser.text(Self.remains) == "[0,0,0,0]")
            }
            try await browser.closeWindow(thenGoTo: first)
        }
    }

    /// The numbers of cards, details and stored values of a page.
    private static let remains = """
        return JSON.stringify([document.querySelectorAll('.card, #answer:not([hidden])').length,
            $('#detail').childElementCount, localStorage.length, sessionStorage.length])
        """
}
