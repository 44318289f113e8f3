import ServerTestSupport
import Foundation
import HTTPTypes
import KVStoreServer
import SnapshotModels
import StoreTestSupport
import TestSupport
import Testing

/// The page while its daemon changes, stops, is unreachable, or has another clock.
extension UsagePageTests {
    @Test("a push appears without a reload, and each empty state says what to do")
    func push() async throws {
        try await open { browser, daemon in
            try await browser.execute(
                """
                window.isSame = true;
                window.announced = [];
                const options = { subtree: true, childList: true, characterData: true };
                for (const region of document.querySelectorAll('[role=status], [role=alert], [aria-live]')) {
                    new MutationObserver(() => announced.push(region.textContent)).observe(region, options);
                }
                """)
            for percent in 20...22 {
                try await daemon.push(session: Double(percent))
                try await browser.wait(shows("\(percent) % used", in: ".card .amount"))
            }
            let announced = try await browser.text("return announced.join()")
            #expect(announced == "", "screen readers announce nothing")
            try await daemon.push(daemon.snapshot("desk"))
            try await browser.wait(shows("No providers: desk pushed just now", in: ".empty h2"))
            try await browser.wait(shows("usage-push sources", in: ".empty li"))
            try await daemon.put(Data("{".utf8), key: SyncedUsageSnapshot.storeKey(deviceID: "id-of-laptop"))
            let hostile = "<img src=x onerror=alert(1)>\u{202E}evil\u{1B}[2J"
            try await daemon.push(
                daemon.snapshot(
                    hostile, id: "id-of-x",
                    daemon.provider("x", hostile, account: hostile, plan: hostile, status: hostile)))
            let shown = #"<img src=x onerror=alert(1)>\u{202E}evil\u{1B}[2J"#
            try await browser.wait(shows(shown, in: ".card h2"))
            try await browser.wait(shows("\(shown) · \(shown)", in: ".card .who"))
            try await browser.wait(shows(shown, in: ".card .message"))
            try await browser.click(".card h2 a")
            try await browser.wait("$('#detail .card')")
            try await go(to: "devices", browser)
            try await browser.wait(shows(shown, in: "#list strong"))
            #expect(
                try await browser.text(
                    "return `${document.images.length} ${document.scripts.length} ${window.isSame}`"
                ) == "0 1 true")
        }
    }

    @Test("cards move when an account is more or less urgent, not with each number, and what has moved is marked")
    func moves() async throws {
        try await open { browser, daemon in
            let names = "[...document.querySelectorAll('.card h2')].map(e => e.textContent).join()"
            try await browser.wait("\(names) === 'Claude,Codex'")
            try await daemon.push(session: 99)
            try await browser.wait("\(names) === 'Codex,Claude'")
            #expect(try await browser.text("return $('[data-moved=up] h2').textContent") == "Codex")
            #expect(try await browser.text("return String(document.querySelectorAll('[data-moved]').length)") == "1")
            try await browser.wait("!$('[data-moved]')")
            // Used up would be first, were it looked at anew; both were critical, and are.
            try await daemon.push(
                daemon.snapshot(
                    "desk", daemon.provider("claude", "Claude", plan: "Max 20x", session: 100, weekly: 93),
                    daemon.provider(session: 91)))
            try await browser.wait(shows("!! 91 % used", in: ".card .amount"))
            #expect(try await browser.text("return \(names)") == "Codex,Claude")
            #expect(try await browser.text("return String($('[data-moved]'))") == "null")
        }
    }

    @Test("without its daemon the page shows since when it is offline, and recovers by itself")
    func restart() async throws {
        try await open { browser, daemon in
            try await browser.execute("window.isSame = true")
            await daemon.stop()
            try await browser.wait(shows("offline since", in: "#link"))
            #expect(try await browser.text("return $('.card .amount').textContent") == "12 % used")
            try await daemon.startAgain()
            try await daemon.push(session: 78)
            try await browser.wait(shows("! 78 % used", in: ".card .amount"))
            try await browser.wait("$('#link').textContent === 'live'")

            try await browser.withoutNetwork {
                try await browser.wait(shows("offline since", in: "#link"))
                try await daemon.push(session: 79)
            }
            try await browser.wait(shows("! 79 % used", in: ".card .amount"))
            try await browser.wait("$('#link').textContent === 'live'")
            #expect(try await browser.text("return String(window.isSame)") == "true")
            // The daemon may not have noticed yet that the one before has ended.
            while try await daemon.streamCount() != 1 { try Task.checkCancellation() }
        }
    }

    @Test("a daemon that is back is seen at once with Retry, with the focus and with the network")
    func retry() async throws {
        try await open { browser, daemon in
            try await browser.execute(
                "const begin = setTimeout; window.setTimeout = (action, time) => time < 1_000 ? begin(action, time) : 0"
            )
            let attempts = [
                "$('#retry').click()", "window.dispatchEvent(new Event('focus'))",
                "window.dispatchEvent(new Event('online'))",
            ]
            for attempt in attempts {
                await daemon.stop()
                try await browser.wait(shows("offline since", in: "#link"))
                try await browser.wait("$('#retry').checkVisibility()")
                try await daemon.startAgain()
                try await browser.execute(attempt)
                try await browser.wait("$('#link').textContent === 'live' && !$('#retry').checkVisibility()")
            }
            // The browser has no network, but the daemon is on its own machine.
            try await browser.execute("window.dispatchEvent(new Event('offline'))")
            try await browser.wait("$('#link').textContent === 'live'")
            try await daemon.push(session: 13)
            try await browser.wait(shows("13 % used", in: ".card .amount"))
        }
    }

    @Test("an answer that arrives after the network has gone is shown, and the page does not stay live")
    func lateAnswer() async throws {
        try await open { browser, daemon in
            try await browser.execute(
                """
                const ask = window.fetch;
                const released = new Promise(resolve => window.release = resolve);
                window.fetch = async (path, options) => {
                    const answer = await ask(path, options);
                    if (!path.includes('format=cards')) return answer;
                    const text = await answer.text();
                    window.isHeld = true;
                    await released;
                    return new Response(text, answer);
                };
                """)
            try await daemon.push(session: 41)
            try await browser.wait("window.isHeld")
            try await browser.execute("window.dispatchEvent(new Event('offline'))")
            try await browser.wait(shows("offline since", in: "#link"))
            await daemon.stop()
            try await browser.execute("window.release()")
            try await browser.wait(shows("41 % used", in: ".card .amount"))
            try await browser.wait(shows("offline since", in: "#link"))
            try await daemon.startAgain()
            try await browser.execute("window.dispatchEvent(new Event('online'))")
            try await browser.wait("$('#link').textContent === 'live'")
        }
    }

    @Test("countdowns follow the daemon's clock, however wrong the browser's clock is")
    func clock() async throws {
        try await open { browser, daemon in
            try await browser.wait(shows("resets in 2h 31m", in: ".more"))
            // The page reads the time only with this function.
            try await browser.execute("const now = Date.now; Date.now = () => now() + 3_600_000; window.now = now")
            try await daemon.push(session: 41)
            try await browser.wait(shows("41 % used", in: ".card .amount"))
            let texts = try await browser.text(
                "return [...document.querySelectorAll('.card .more, .card .age')].map(e => e.textContent).join()"
            )
            #expect(texts.contains("resets in 2h 3") && !texts.contains("h ago"), "\(texts)")
            try await browser.execute("Date.now = () => window.now() - 3_600_000")
            try await daemon.push(session: 42)
            try await browser.wait(shows("42 % used", in: ".card .amount"))
            try await browser.wait(shows("resets in 2h 3", in: ".more"))
        }
    }

    @Test("on a slow network and processor the bars appear without an error")
    func slow() async throws {
        try await open { browser, daemon in
            guard browser.kind == .chromium else { return }
            try await browser.withNewWindow {
                try await browser.devTools(
                    "Network.emulateNetworkConditions",
                    ["offline": false, "latency": 300, "downloadThroughput": 50_000, "uploadThroughput": 50_000])
                try await browser.devTools("Emulation.setCPUThrottlingRate", ["rate": 6])
                try await browser.open(daemon.url)
                try await browser.wait("document.querySelectorAll('.card .bar i').length === 4")
                try await browser.wait("$('#link').textContent === 'live'")
                try await browser.wait("navigator.connection.rtt > 200")
                #expect(try await browser.text("return $('#status').textContent") == "")
                let failed = try await browser.requests().filter(\.hasFailed)
                #expect(failed.isEmpty, "\(failed)")
                try await browser.open("about:blank")
            }
        }
    }

    @Test("a hidden page is idle, and up to date when it is visible again")
    func hidden() async throws {
        try await open { browser, daemon in
            try await browser.execute(
                """
                window.timers = new Set();
                for (const [start, end] of [['setTimeout', 'clearTimeout'], ['setInterval', 'clearInterval']]) {
                    const [begin, cancel] = [window[start], window[end]];
                    window[start] = (action, time) => {
                        const id = begin(() => { if (start === 'setTimeout') timers.delete(id); action(); }, time);
                        timers.add(id);
                        return id;
                    };
                    window[end] = id => { timers.delete(id); cancel(id); };
                }
                document.addEventListener('visibilitychange', () => {
                    if (document.hidden) window.wasIdle = timers.size === 0;
                });
                """)
            // From now on every timer is recorded.
            try await daemon.push(session: 50)
            try await browser.wait(shows("50 % used", in: ".card .amount"))
            try await browser.withNewWindow {
                while try await daemon.streamCount() != 0 { try Task.checkCancellation() }
                _ = try await browser.requests()
                try await daemon.push(session: 51)
                #expect(try await browser.requests().filter { $0.url.contains("/v1/") }.isEmpty)
            }
            #expect(try await browser.text("return String(wasIdle)") == "true")
            try await browser.wait(shows("51 % used", in: ".card .amount"))
            try await browser.wait("$('#link').textContent === 'live'")
            #expect(try await daemon.streamCount() == 1)
        }
    }

    @Test("any number of visible windows share one stream, also when the one that reads it is closed")
    func manyWindows() async throws {
        try await open(["--write"]) { browser, daemon in
            let first = try await browser.window
            var others: [Browser.Window] = []
            // A browser has six connections to a host.
            for _ in 0..<7 {
                others.append(try await browser.openWindow(hidesOthers: false))
                try await browser.open(daemon.url + "#/keys")
                try await browser.wait("$('#link').textContent === 'live' && !document.hidden")
                try await browser.wait(shows("1 key ", in: "#list p"))
            }
            #expect(try await daemon.streamCount() == 1)
            func expectKey(_ key: String, isThere: Bool = true) async throws {
                for window in others {
                    try await browser.go(to: window)
                    try await browser.wait(
                        "\(shows(key, in: "#list .key")) === \(isThere) && $('#link').textContent === 'live'")
                }
            }
            try await daemon.put(Data("{}".utf8), key: "while-first-reads")
            try await expectKey("while-first-reads")
            try await browser.go(to: first)
            try await browser.open("about:blank")
            try await daemon.put(Data("{}".utf8), key: "while-another-reads")
            _ = try await daemon.send(.delete, "/v1/stores/default/keys/while-first-reads")
            try await expectKey("while-another-reads")
            try await expectKey("while-first-reads", isThere: false)
            #expect(try await daemon.streamCount() == 1)
            for window in others {
                try await browser.go(to: window)
                try await browser.open("about:blank")
                try await browser.closeWindow(thenGoTo: first)
            }
        }
    }

    @Test("cards are sent compressed and not again when they are known, at most twice a second")
    func traffic() async throws {
        try await open { browser, daemon in
            try await browser.execute("performance.clearResourceTimings()")
            for percent in 40..<60 { try await daemon.push(session: Double(percent)) }
            try await browser.wait(shows("59 % used", in: ".card .amount"))
            let found = try await browser.text(
                """
                const entries = performance.getEntriesByType('resource').filter(e => e.name.includes('format=cards'));
                const gaps = entries.slice(1).map((entry, index) => entry.startTime - entries[index].startTime);
                return [Math.min(...gaps) >= 490 || gaps, entries.length < 20,
                    entries.every(e => e.encodedBodySize === 0 || e.encodedBodySize * 2 < e.decodedBodySize)].join();
                """)
            #expect(found == "true,true,true")
            let answers = try await browser.executeAsync(
                """
                const ask = fields => fetch('/v1/usage?format=cards',
                    { cache: 'no-store', headers: { 'Ubiquity-Session': localStorage.session, ...fields } });
                ask({}).then(async answer => {
                    const known = await ask({ 'If-None-Match': answer.headers.get('ETag') });
                    done([answer.headers.get('Content-Encoding'), answer.headers.get('Vary'), known.status].join());
                });
                """)
            #expect(answers as? String == "deflate,Accept, Accept-Encoding,304")
        }
    }

    @Test("an open page becomes that of its updated daemon, but not while something is edited")
    func openUpgrade() async throws {
        try await open(["--write"]) { browser, daemon in
            try await go(to: "keys", browser)
            try await browser.execute("navigator.serviceWorker.ready.then(() => {}); window.isFormer = true")
            try await choose("Add…", in: "#list", browser)
            try await browser.fill("#key", "typed")
            await daemon.stop()
            let directory = daemon.home.path + "/.local/share/ubiquity/kvsd"
            let updated = try StoreServer(
                ServerConfiguration(
                    storage: .directory(directory), address: ListenAddress(host: "127.0.0.1", port: daemon.port)),
                provider: try OtherPage())
            async let serving: Void = updated.run()
            _ = try await updated.port
            try await browser.wait("$('#renew').checkVisibility()")
            #expect(try await browser.text("return `${window.isFormer} ${$('#key').value}`") == "true typed")
            try await browser.press(.escape)
            try await browser.click("#renew")
            try await browser.wait("!window.isFormer && $('meta[name=other]')")
            // Before the page knows its version none is newer.
            try await browser.wait(
                "performance.getEntriesByName(`${origin}/sw.js`).some(entry => entry.initiatorType === 'fetch')")
            await updated.stop()
            try await serving
            try await daemon.startAgain()
            // Nothing is edited now.
            while try await browser.execute("return Boolean(document.querySelector('meta[name=other]'))") as? Bool
                == true
            {
                try Task.checkCancellation()
            }
            try await browser.wait("$('#link').textContent === 'live'")
        }
    }

    @Test("each window has its own route and scroll position, and all share the options")
    func windows() async throws {
        try await open { browser, daemon in
            let first = try await browser.window
            try await go(to: "usage/codex%09dev%40example.test", browser)
            let second = try await browser.openWindow()
            try await browser.show(width: 400, height: 300)
            try await browser.open(daemon.url)
            try await browser.wait("document.querySelectorAll('.card').length === 2")
            try await browser.execute("scrollTo(0, 80)")
            try await browser.wait("sessionStorage.getItem('scroll usage ') === '80'")
            try await go(to: "settings", browser)
            try await browser.click("input[name=measure]:not(:checked)")
            try await browser.go(to: first)
            try await browser.wait(shows("64 % left", in: "#detail .amount"))
            try await browser.reload()
            try await browser.wait(shows("64 % left", in: "#detail .amount"))
            try await browser.go(to: second)
            #expect(try await browser.text("return location.hash") == "#/settings")
            try await go(to: "usage", browser)
            try await browser.wait("scrollY === 80")
            try await browser.open("about:blank")
            try await browser.closeWindow(thenGoTo: first)
        }
    }

    @Test("a window that is shown has the options that were chosen, also if the browser did not tell it")
    func shownAgain() async throws {
        try await open { browser, _ in
            try await go(to: "usage/codex%09dev%40example.test", browser)
            // A window is not told of what it stores itself.
            try await browser.execute(
                """
                localStorage.setItem('options', JSON.stringify({ measure: 'left' }));
                document.dispatchEvent(new Event('visibilitychange'));
                """)
            try await browser.wait(shows("64 % left", in: "#detail .amount"))
        }
    }

    @Test("a new version of the page replaces all files after a reload")
    func upgrade() async throws {
        let browser = try #require(Browser.shared)
        let daemon = try await PageDaemon()
        _ = try await browser.complaints()
        await daemon.stop()
        let former = try StoreServer(
            ServerConfiguration(address: ListenAddress(host: "127.0.0.1", port: daemon.port)),
            provider: try OtherPage())
        async let serving: Void = former.run()
        _ = try await former.port
        try await browser.open(daemon.url)
        try await browser.wait("$('meta[name=other]') && $('form.signin')")
        try await browser.executeAsync("navigator.serviceWorker.ready.then(() => done())")
        await former.stop()
        try await serving
        try await daemon.startAgain()
        try await browser.reload()
        // The new worker reloads it once more.
        while (try? await browser.text("return String($('meta[name=other]'))")) != "null" {
            try Task.checkCancellation()
        }
        try await browser.wait("$('form.signin')")
        let complaints = try await browser.complaints()
        #expect(complaints.isEmpty, "\(complaints)")
        try await browser.open("about:blank")
    }

    /// The files of the page with a mark, as another version has them, and what a daemon says about usage.
    private struct OtherPage: ResourceProvider {
        private let page: WebPage

        init() throws {
            let directory = Repository.root.appending(path: "Sources/Usage/UsageServer/Page/Files")
            var files: [String: [UInt8]] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
                files[name] = Array(try Data(contentsOf: directory.appending(path: name)))
            }
            let document = String(decoding: files["page.html"] ?? [], as: UTF8.self)
            files["page.html"] = Array(document.replacing("<title>", with: "<meta name=other><title>").utf8)
            page = WebPage(at: "/page/", indexes: ["/"], files: files)
        }

        func resource(at path: Substring) -> (any AdditionalResource)? { page.file(at: path) }
    }
}
