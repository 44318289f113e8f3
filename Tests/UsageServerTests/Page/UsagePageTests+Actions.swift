import ServerTestSupport
import Foundation
import SnapshotModels
import Testing

/// What one does on the page, what every part of it shows at once, and why something was not done.
extension UsagePageTests {
    private func openDevice(_ route: String, _ browser: Browser) async throws {
        try await browser.execute("location.hash = '#/devices/\(route)'")
        try await browser.wait("$('#detail h2')")
    }

    @Test("a device that was renamed or removed here is shown so at once, and this page as online")
    func devices() async throws {
        try await open(["--admin"]) { browser, daemon in
            let own = try #require(
                try await browser.executeAsync(
                    "fetch('/v1/me', { headers: { 'Ubiquity-Session': localStorage.session } })"
                        + ".then(answer => answer.json()).then(me => done(me.deviceID))") as? String)
            try await openDevice(own, browser)
            try await browser.wait("$('#detail p').textContent === 'online'")
            try await choose("Rename…", browser)
            try await browser.fill("#name", "kitchen")
            try await browser.click("#dialog-action")
            try await browser.wait(shows("The device has been renamed.", in: "#status"))
            #expect(try await browser.text("return $('#detail h2').textContent") == "kitchen")
            #expect(
                try await browser.execute("return " + shows("kitchen (this page)", in: "#list strong")) as? Bool == true
            )
            #expect(try await browser.text("return $('#detail p').textContent") == "online")
            try await go(to: "settings", browser)
            try await browser.wait(
                shows("Signed in as kitchen of the account default; may read and manage devices.", in: "#list p"))

            try await daemon.kvsd(["device", "add", "spare"])
            let spare = try await daemon.deviceID("spare")
            try await browser.reload()
            try await openDevice(spare, browser)
            try await choose("Remove…", browser)
            try await browser.click("#dialog-action")
            try await browser.wait(shows("The device has been removed.", in: "#status"))
            #expect(try await browser.execute("return " + shows("spare", in: "#list strong")) as? Bool == false)
            #expect(try await browser.execute("return $('#detail').hidden") as? Bool == true)
        }
    }

    @Test("devices have the names that the daemon knows, in every section")
    func names() async throws {
        try await open(["--admin"]) { browser, daemon in
            var snapshot = daemon.snapshot(
                "host-4711.example.test", id: "id-of-desk",
                daemon.provider(
                    cost: SyncCostSummary(
                        last30DaysCostUSD: 3, last30DaysTokens: 4_000,
                        daily: [SyncDailyCost(dayKey: "2026-09-18", costUSD: 3, totalTokens: 4_000)])))
            snapshot.daemonDeviceID = try await daemon.deviceID("desk")
            try await daemon.push(snapshot)
            try await browser.wait("document.querySelectorAll('.card').length === 1")
            try await openDevice("id-of-desk", browser)
            try await choose("Rename…", browser)
            try await browser.fill("#name", "study")
            try await browser.click("#dialog-action")
            try await browser.wait(shows("study", in: "#list strong"))
            try await go(to: "usage/codex%09dev%40example.test", browser)
            try await browser.wait(shows("Seen by study", in: "#detail p"))
            for route in Self.routes {
                try await go(to: route, browser)
                #expect(try await browser.execute("return " + shows("host-4711")) as? Bool == false, "\(route)")
            }
        }
    }

    @Test("an action without an answer is busy, ends after its time limit, and says why")
    func timeLimit() async throws {
        try await open(["--admin"]) { browser, daemon in
            try await openDevice("id-of-desk", browser)
            try await browser.execute(
                "const limit = AbortSignal.timeout; AbortSignal.timeout = time => limit.call(AbortSignal, time / 20)")
            try await choose("Rename…", browser)
            try await browser.fill("#name", "study")
            daemon.suspend()
            try await browser.click("#dialog-action")
            try await browser.wait("$('#dialog-action').ariaBusy === 'true'")
            try await browser.wait(shows("No answer within 20 s; it may have been done", in: "#dialog .error"))
            try await browser.wait("$('#dialog-action').ariaBusy === 'false' && $('#name').value === 'study'")
            daemon.resume()
            try await browser.press(.escape)
        }
    }

    @Test("a plot's percentages are those of the chosen measure, and say which")
    func measures() async throws {
        try await open { browser, daemon in
            try await daemon.pushHistory(of: daemon.provider(), quarters: 192)
            try await go(to: "usage/codex%09dev%40example.test", browser)
            try await browser.wait("$('#detail svg')")
            let used = try await plot(browser)
            try await browser.execute("localStorage.setItem('options', JSON.stringify({ measure: 'left' }))")
            try await browser.reload()
            try await browser.wait("$('#detail svg')")
            let left = try await plot(browser)
            #expect(used.measure == "used" && left.measure == "left")
            #expect(used.now + left.now == 100 && used.extreme + left.extreme == 100)
            #expect(used.curve != left.curve)
            try await browser.wait(shows("Last, left", in: "#detail th"))
        }
    }

    private struct Plot {
        var now: Int
        var measure: String
        var extreme: Int
        var curve: String
    }

    private func plot(_ browser: Browser) async throws -> Plot {
        let (text, curve) = try await browser.pair(
            "return [$('#detail figcaption p').textContent, $('#detail .curve').getAttribute('d')]")
        let found = try #require(
            text.firstMatch(of: /now (\d+) % (used|left), at (?:most|least) (\d+) %/), "\(text)")
        return Plot(
            now: try #require(Int(found.1)), measure: String(found.2), extreme: try #require(Int(found.3)), curve: curve
        )
    }

    @Test("a push service out of reach is a reason after a time, and the button can be used again")
    func unreachablePushService() async throws {
        try await open { browser, _ in
            guard browser.kind == .chromium else { return }
            try await browser.devTools("Browser.grantPermissions", ["permissions": ["notifications"]])
            try await go(to: "settings", browser)
            try await browser.execute(
                """
                PushManager.prototype.subscribe = () => new Promise(() => {});
                Notification.requestPermission = async () => 'granted';
                const begin = setTimeout;
                window.setTimeout = (action, time) => begin(action, time / 20);
                """)
            let button = "[...$('.alerts').querySelectorAll('button')].find(e => e.textContent === 'Warn this device')"
            try await browser.wait(button)
            try await browser.execute("\(button).click()")
            #expect(try await browser.text("return \(button).ariaBusy") == "true")
            try await browser.wait(
                shows("No answer within 20 s: the browser could not reach its push service", in: "#status"))
            try await browser.wait(shows("A firewall may block it, or the browser may have none.", in: "#status"))
            #expect(try await browser.text("return \(button).ariaBusy") == "false")
        }
    }
}
