import ServerTestSupport
import Foundation
import HTTPTypes
import KVStoreEmulator
import KVStoreServer
import TestSupport
import Synchronization
import Testing

/// The emulator's page in a real browser.
@Suite("The emulator's page", .requiresBrowser, .serialized, .browser, .timeLimit(.minutes(5)))
struct PageTests: PageSuite {
    /// Runs an emulator, in which a phone has set a key, and opens its page.
    func open(
        width: Int = 1_280, record: (@Sendable (Data) -> Void)? = nil, closes: Bool = true,
        _ body: (Browser, EmulatorClient) async throws -> Void
    ) async throws {
        let browser = try #require(Browser.shared)
        try await EmulatorClient.run(record: record) { client in
            try await client.put("green", "colour", token: "demo/phone")
            _ = try await client.sync(token: "demo/desk")
            try await browser.show(width: width)
            _ = try await browser.complaints()
            _ = try await browser.requests()
            try await browser.open(client.emulator.pageURL)
            try await browser.wait("document.querySelector('#keys tr')")
            try await body(browser, client)
            // Ends the stream of events.
            if closes { try await browser.open("about:blank") }
        }
    }

    @Test("worlds, keys with their values, and devices are shown")
    func content() async throws {
        try await open { browser, _ in
            #expect(try await browser.text("return $('#world').value") == "demo")
            try await browser.wait(shows(#""green""#, in: "#keys tr .value"))
            try await browser.wait(
                "[...document.querySelectorAll('#devices h3')].map(e => e.textContent).join() === 'desk,phone'")
        }
    }

    @Test("an event of another client appears without a reload")
    func liveEvent() async throws {
        try await open { browser, client in
            try await client.put("red", "background", token: "demo/desk")
            try await browser.wait(shows(#"background = "red""#, in: "#events li"))
            try await browser.wait(shows("background", in: "#keys th"))
        }
    }

    @Test("another world can be chosen, and the address keeps the choice")
    func worlds() async throws {
        try await open { browser, client in
            try await client.put("1", "elsewhere", token: "other/phone")
            try await browser.wait(shows("other", in: "#world option"))
            try await browser.execute("const s = $('#world'); s.value = 'other'; s.dispatchEvent(new Event('change'))")
            try await browser.wait(shows("elsewhere", in: "#keys th"))
            try await browser.wait("!(\(shows("colour", in: "#keys th")))")
            try await browser.execute("location.reload()")
            try await browser.wait(shows("elsewhere", in: "#keys th"))
        }
    }

    @Test("names and values of a world stay text")
    func hostileText() async throws {
        try await open { browser, client in
            let name = "<img src=x onerror=alert(1)>"
            let key = try #require(name.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            try await client.put(#"</td><script>alert(2)</script>\u0027"#, key, token: "demo/phone")
            try await browser.wait(shows(name, in: "#keys th"))
            try await browser.wait(shows("<script>", in: "#keys .value"))
            try await browser.wait(shows(name, in: "#events li"))
            try await browser.execute(
                "[...document.querySelectorAll('#keys button.key')].find(e => e.textContent[0] === '<').click()")
            try await browser.wait(shows(name, in: "#why-key"))
            #expect(try await browser.text("return `${document.images.length} ${document.scripts.length}`") == "0 1")
        }
    }

    @Test("the scrubber shows the world as of any event, and live shows the present again")
    func scrubber() async throws {
        try await open { browser, client in
            try await client.put("red", "colour", token: "demo/desk")
            try await browser.wait(shows(#""red""#, in: "#keys .value"))
            try await browser.execute("$('#scrubber').focus()")
            for _ in 0..<2 { try await browser.press(.left) }
            try await browser.wait(shows(#""green""#, in: "#keys .value"))
            try await browser.wait("$('#mode').textContent.startsWith('Read only')")
            try await browser.wait(#"$('#events [aria-selected=true] .what').textContent === 's: colour = "green"'"#)
            try await browser.press("]")
            try await browser.press("l")
            try await browser.wait(shows(#""red""#, in: "#keys .value"))
            #expect(try await browser.text("return String($('#mode-bar').hidden)") == "true")
        }
    }

    @Test("the events are a list that arrow keys move through")
    func eventKeys() async throws {
        try await open { browser, client in
            try await client.put("red", "colour", token: "demo/desk")
            try await browser.wait(shows(#""red""#, in: "#events li"))
            try await browser.press("e")
            try await browser.press(.down)
            try await browser.wait(shows(#""red""#, in: "#events [aria-selected=true]"))
            try await browser.press(.end)
            try await browser.wait(shows(#""green""#, in: "#events [aria-selected=true]"))
            #expect(
                try await browser.text(
                    "return document.getElementById($('#events').getAttribute('aria-activedescendant')).ariaSelected"
                ) == "true")
            try await browser.press(.home)
            try await browser.wait("document.body.dataset.mode === 'live'")
        }
    }

    @Test("reset asks first, and empties the world")
    func reset() async throws {
        try await open { browser, client in
            try await browser.click("#reset")
            try await browser.press(.escape)
            try await browser.wait("!$('#reset-dialog').open")
            #expect(try await client.get("colour", token: "demo/desk") == "green")
            try await browser.click("#reset")
            try await browser.click("#reset-dialog [value=world]")
            try await browser.wait(shows("Reset demo", in: "#status"))
            try await browser.wait("!document.querySelector('#keys tr')")
            #expect(try await client.get("colour", token: "demo/desk") == nil)
        }
    }

    @Test("a file is imported, and a file that is no export is an error that says why")
    func importing() async throws {
        try await open { browser, client in
            let text = try await client.administer(.get, "/worlds/demo/export").text
            let file = try browser.home.file("world.json", text.replacing("green", with: "blue"))
            try await browser.choose(file, in: "#import-file")
            try await browser.wait(shows("Imported 1 key in 1 store", in: "#status"))
            #expect(try await client.get("colour", token: "demo/desk") == "blue")
            try await browser.choose(try browser.home.file("bad.json", "[]"), in: "#import-file")
            try await browser.wait("$('#status').className === 'error'")
            #expect(try await browser.text("return $('#export').pathname").hasSuffix("/export"))
        }
    }

    @Test("a record opens read only, with its own time line, and closes again")
    func record() async throws {
        try await open { browser, _ in
            let lines = [
                #"{"record":{"seed":7,"strict":false,"version":1}}"#,
                #"{"n":1,"arrives":{"time":1789732800123,"world":"w","device":"phone","method":"PUT","target":"/v1/stores/s/keys/k"}}"#,
                #"{"event":{"id":1,"event":"change","world":"w","time":1789732800123,"device":"phone","store":"s","key":"k","value":{"type":"integer","value":9223372036854775807},"seq":1}}"#,
                #"{"n":1,"answers":{"time":1789732800123,"status":200}}"#,
                #"{"event":{"id":2,"event":"reset","world":"w","time":1789732800124}}"#,
            ]
            let file = try browser.home.file("r.jsonl", lines.joined(separator: "\n") + "\n")
            try await browser.choose(file, in: "#record-file")
            try await browser.wait(shows("r.jsonl, read only, seed 7", in: "#mode"))
            #expect(try await browser.text("return $('#position').textContent") == "3 / 3")
            try await browser.click("#previous")
            // All 64 bits.
            try await browser.wait(shows("9223372036854775807", in: "#keys .value"))
            try await browser.wait(shows("→ 200", in: "#events li"))
            try await browser.wait("$('#settle').disabled && $('#add-key').disabled")
            try await browser.click("#close-record")
            try await browser.wait(shows(#""green""#, in: "#keys .value"))

            let other = try browser.home.file("x.jsonl", "\(lines[0])\nnothing\n")
            try await browser.choose(other, in: "#record-file")
            try await browser.wait(shows("x.jsonl, line 2: not JSON", in: "#status"))
        }
    }

    @Test("the record of a session shows the world as of each of its events")
    func recordedSession() async throws {
        let record = Mutex(Data())
        try await open(record: { line in record.withLock { $0 += line } }) { browser, client in
            try await client.put("red", "colour", token: "demo/desk")
            let text = String(decoding: record.withLock { $0 }, as: UTF8.self)
            let file = try browser.home.file("session.jsonl", text)
            try await browser.choose(file, in: "#record-file")
            try await browser.wait(shows("session.jsonl, read only", in: "#mode"))
            try await browser.wait(shows(#""red""#, in: "#keys .value"))
            try await browser.press("e")
            try await browser.press(.end)
            try await browser.wait(shows("PUT /v1/stores/s/keys/colour → 200", in: "#position-text"))
            try await browser.press("]")
            try await browser.wait(shows(#""green""#, in: "#keys .value"))
        }
    }

    @Test("the page reports no error, violates no policy and asks no other origin")
    func confinement() async throws {
        try await open { browser, client in
            try await client.put("red", "colour", token: "demo/desk")
            try await browser.wait(shows(#""red""#, in: "#events li"))
            let complaints = try await browser.complaints()
            #expect(complaints.isEmpty, "\(complaints)")
            let urls = try await browser.requests().map(\.url)
            #expect(urls.count > 10)
            let foreign = urls.filter { !$0.hasPrefix(client.emulator.pageURL) }
            #expect(foreign.isEmpty, "\(foreign)")
        }
    }
}
