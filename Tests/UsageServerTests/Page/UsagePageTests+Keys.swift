import ServerTestSupport
import Foundation
import HTTPTypes
import TerminalText
import Testing

/// The keys of the store: searching, showing, copying and changing them.
extension UsagePageTests {
    private static let typed = "application/vnd.ubiquity.value+json"

    private func uri(_ key: String) throws -> String {
        "/v1/stores/default/keys/" + (try #require(key.addingPercentEncoding(withAllowedCharacters: .alphanumerics)))
    }

    /// - Parameter value: JSON with its type.
    private func set(_ key: String, _ value: String, _ daemon: PageDaemon) async throws {
        let response = try await daemon.send(.put, uri(key), ["Content-Type": Self.typed], body: value)
        try #require(response.status == .ok, "\(response.text)")
    }

    private func value(_ key: String, _ daemon: PageDaemon) async throws -> String {
        try await daemon.send(.get, uri(key), ["Accept": Self.typed]).text
    }

    /// The JSON of a string with its type.
    private func string(_ text: String) -> String { #"{"type": "string", "value": \#(json(text))}"# }

    private func json(_ text: String) -> String { String(quoted(text).dropFirst().dropLast(4)) }

    private func showKey(_ key: String, _ browser: Browser) async throws {
        try await browser.execute("location.hash = '#/keys/' + encodeURIComponent(\(quoted(key)))")
        try await browser.wait("$('#detail h2.key')")
    }

    func choose(_ button: String, in selector: String = "#detail", _ browser: Browser)
        async throws
    {
        let found = "[...document.querySelectorAll('\(selector) button')].find(e => e.textContent === '\(button)')"
        try await browser.wait(found)
        try await browser.execute("\(found).click()")
    }

    @Test("a key is shown exactly in each form, and follows the store")
    func forms() async throws {
        try await open { browser, daemon in
            try await go(to: "keys", browser)
            try await browser.wait(shows("com.codexbar.usage.snapshot", in: "#list .key"))
            try await browser.click("#list .item a")
            try await browser.wait(shows(#""providerName": "Codex""#, in: "#detail pre"))
            try await choose("Text", browser)
            try await browser.wait(shows(#""providerName":"Codex""#, in: "#detail pre"))
            try await choose("Property list", browser)
            try await browser.wait(shows(#""type": "data""#, in: "#detail pre"))

            try await set(
                "k",
                #"{"type":"dictionary","value":{"n":{"type":"integer","value":-9223372036854775808},"d":{"type":"date","value":"2026-09-18T12:00:00Z"}}}"#,
                daemon)
            try await showKey("k", browser)
            try await browser.wait(shows(#""n": -9223372036854775808"#, in: "#detail pre"))
            try await choose("Hex", browser)
            try await browser.wait(shows("0000 6270 6c69 7374 3030 bplist00", in: "#detail pre"))
            try await choose("JSON", browser)
            try await set("k", #"{"type":"integer","value":9223372036854775807}"#, daemon)
            try await browser.wait("$('#detail pre').textContent === '9223372036854775807'")
            try await browser.wait(shows("50 bytes, just now, by desk", in: "#detail li"))
            try await daemon.push(daemon.snapshot("another"))
            try await browser.wait("!(\(shows("by desk", in: "#detail li")))")
            let read = try await value("k", daemon)
            let stamp = try #require(read.firstMatch(of: /"stamp":"([^"]+)"/)?.1)
            try await browser.wait(shows(String(stamp), in: "#detail td"))

            let text = String(repeating: "0123456789abcde\n", count: 2_000)
            try await set("k", string(text), daemon)
            try await browser.wait("$('#detail pre').textContent.length === 16384")
            try await choose("More", browser)
            try await browser.wait("$('#detail pre').textContent.length === 32000")

            _ = try await daemon.send(.put, uri("k"), ["Content-Type": "application/octet-stream"], body: "no list")
            try await browser.wait(shows("Not a property list", in: "#detail .note"))
            _ = try await daemon.send(.delete, uri("k"))
            try await browser.wait(shows("no such key any more", in: "#detail .note"))
            try await browser.wait("!(\(shows("Edit…"))) && !(\(shows("Delete…"))) && !(\(shows("Add…")))")
        }
    }

    @Test("keys are found as their names are typed, and the search survives a reload")
    func search() async throws {
        try await open(width: 320) { browser, daemon in
            try await set("Überschrift", string("x"), daemon)
            try await go(to: "keys", browser)
            try await browser.wait(shows("2 keys", in: "#list p"))
            try await browser.press("/")
            for character in "über" { try await browser.press(character) }
            try await browser.wait(shows("1 of 2 keys", in: "#list p"))
            try await browser.wait("document.querySelectorAll('#list .item').length === 1")
            try await browser.open("about:blank")
            try await browser.open(daemon.url + "#/keys")
            try await browser.wait(shows("1 of 2 keys", in: "#list p"))
            #expect(try await browser.text("return $('#search').value") == "über")
            // On a narrow page the key replaces the list.
            try await browser.click("#list .item a")
            try await browser.wait(shows("x", in: "#detail pre"))
            #expect(try await browser.text("return String($('#list').checkVisibility())") == "false")
            #expect(try await browser.execute("return document.documentElement.scrollWidth <= 320") as? Bool == true)
            try await browser.expectNoViolations()
            try await browser.press(.escape)
            try await browser.wait("$('#list').checkVisibility() && $('#detail').hidden")
            try await browser.expectNoViolations()
        }
    }

    @Test("with the scope write a key is added, changed and deleted, each by keyboard and pointer")
    func changes() async throws {
        try await open(["--write"]) { browser, daemon in
            try await go(to: "keys", browser)
            try await browser.wait(shows("1 key", in: "#list p"))
            try await choose("Add…", in: "#list", browser)
            try await browser.fill("#key", "a/b")
            try await browser.execute("$('#type').value = 'integer'; $('#type').dispatchEvent(new Event('change'))")
            try await browser.fill("#value", "seven")
            try await browser.execute("$('#key').focus()")
            try await browser.press(.enter)
            try await browser.wait(shows("An integer has digits only.", in: "#dialog .error"))
            try await browser.fill("#value", "9223372036854775807")
            try await browser.click("#dialog-action")
            try await browser.wait("$('#detail pre')?.textContent === '9223372036854775807'")
            #expect(try await value("a/b", daemon).contains(#""type":"integer","value":9223372036854775807"#))

            try await choose("Edit…", browser)
            #expect(try await browser.text("return $('#value').value") == "9223372036854775807")
            try await browser.execute("$('#type').value = 'array'; $('#type').dispatchEvent(new Event('change'))")
            try await browser.fill("#value", #"[1, {"type": "data", "value": "AAEC"}]"#)
            try await browser.click("#dialog-action")
            try await browser.wait(shows("Set a/b.", in: "#status"))
            #expect(
                try await value("a/b", daemon).contains(
                    #""value":[{"type":"integer","value":1},{"type":"data","value":"AAEC"}]"#))

            try await choose("Delete…", browser)
            try await browser.click("#dialog-cancel")
            try await browser.wait("!$('#dialog').open")
            #expect(try await value("a/b", daemon).contains("array"))
            try await choose("Delete…", browser)
            try await browser.click("#dialog-action")
            try await browser.wait(shows("Deleted a/b.", in: "#status"))
            #expect(try await value("a/b", daemon).contains("unknown-key"))
        }
    }

    @Test("what another device sets or deletes during an edit is shown beside it, and replaced only by choice")
    func conflicts() async throws {
        try await open(["--write"]) { browser, daemon in
            func edit(_ text: String) async throws {
                try await choose("Edit…", browser)
                try await browser.fill("#value", text)
            }
            try await set("k", string("first"), daemon)
            try await showKey("k", browser)
            try await browser.wait(shows("first", in: "#detail pre"))
            try await edit("mine")
            try await set("k", string("theirs"), daemon)
            try await browser.click("#dialog-action")
            try await browser.wait(shows("Nothing was saved", in: "#dialog .error"))
            try await browser.wait(shows("theirs", in: "#dialog pre"))
            #expect(try await browser.text("return $('#value').value") == "mine")
            #expect(try await value("k", daemon).contains("theirs"))
            try await browser.click("#dialog-action")
            try await browser.wait("!$('#dialog').open")
            #expect(try await value("k", daemon).contains("mine"))

            try await browser.wait(shows("mine", in: "#detail pre"))
            try await edit("mine again")
            try await set("k", string("theirs again"), daemon)
            try await browser.click("#dialog-action")
            try await choose("Take that value", in: "#dialog", browser)
            #expect(try await browser.text("return $('#value').value") == "theirs again")
            try await browser.click("#dialog-action")
            try await browser.wait("!$('#dialog').open")
            #expect(try await value("k", daemon).contains("theirs again"))

            try await browser.wait(shows("theirs again", in: "#detail pre"))
            try await edit("after all")
            _ = try await daemon.send(.delete, uri("k"))
            try await browser.click("#dialog-action")
            try await browser.wait(shows("It was deleted meanwhile.", in: "#dialog .note"))
            try await browser.click("#dialog-action")
            try await browser.wait("!$('#dialog').open")
            #expect(try await value("k", daemon).contains("after all"))

            try await browser.wait(shows("after all", in: "#detail pre"))
            try await choose("Delete…", browser)
            try await set("k", string("newest"), daemon)
            try await browser.click("#dialog-action")
            try await browser.wait(shows("newest", in: "#dialog pre"))
            #expect(try await value("k", daemon).contains("newest"))
            try await browser.click("#dialog-action")
            try await browser.wait(shows("Deleted k.", in: "#status"))

            try await choose("Add…", in: "#list", browser)
            try await browser.fill("#key", "new")
            try await browser.fill("#value", "mine")
            try await set("new", string("theirs"), daemon)
            try await browser.click("#dialog-action")
            try await browser.wait(shows("theirs", in: "#dialog pre"))
            #expect(try await value("new", daemon).contains("theirs"))
        }
    }

    @Test("what is typed survives Escape and a reload until it is saved or discarded")
    func drafts() async throws {
        try await open(["--write"]) { browser, daemon in
            try await set("k", string("stored"), daemon)
            try await showKey("k", browser)
            try await choose("Edit…", browser)
            try await browser.fill("#value", "typed")
            try await browser.press(.escape)
            try await browser.wait("!$('#dialog').open")
            try await browser.reload()
            try await choose("Edit the draft…", browser)
            #expect(try await browser.text("return $('#value').value") == "typed")
            try await choose("Discard it", in: "#dialog", browser)
            #expect(try await browser.text("return $('#value').value") == "stored")
            try await browser.press(.escape)
            try await choose("Edit…", browser)
            try await browser.fill("#value", "typed again")
            try await browser.press(.escape)
            try await choose("Edit the draft…", browser)
            // The draft began with another value than the one that is replaced.
            try await set("k", string("theirs"), daemon)
            try await browser.click("#dialog-action")
            try await browser.wait(shows("theirs", in: "#dialog pre"))
            try await browser.click("#dialog-action")
            try await browser.wait(shows("typed again", in: "#detail pre"))
            try await choose("Edit…", browser)
            try await browser.press(.escape)

            try await choose("Add…", in: "#list", browser)
            try await browser.fill("#key", "new")
            try await browser.fill("#value", "typed too")
            try await browser.press(.escape)
            try await choose("Add…", in: "#list", browser)
            #expect(try await browser.text("return $('#key').value + $('#value').value") == "newtyped too")
            try await browser.click("#dialog-action")
            try await browser.wait(shows("typed too", in: "#detail pre"))
        }
    }

    @Test("a value that is too long is refused with the limit that it exceeds and what is used")
    func storeLimits() async throws {
        try await open(["--write"]) { browser, daemon in
            try await go(to: "keys", browser)
            try await browser.wait(shows("1 key with ", in: "#list p"))
            try await choose("Add…", in: "#list", browser)
            try await browser.fill("#key", "long")
            try await browser.execute("$('#value').value = 'x'.repeat(1_100_000)")
            try await browser.click("#dialog-action")
            try await browser.wait(
                shows("a value may have 1048640 bytes; the store has 1 key with ", in: "#dialog .error"))
            try await browser.press(.escape)
        }
    }

    @Test("what was done stays readable while the page moves on, until it has been read and one goes elsewhere")
    func outcomes() async throws {
        try await open(["--write"]) { browser, daemon in
            try await go(to: "keys", browser)
            try await choose("Add…", in: "#list", browser)
            try await browser.fill("#key", "k")
            try await browser.fill("#value", "v")
            try await browser.click("#dialog-action")
            try await browser.wait(shows("v", in: "#detail pre"))
            #expect(try await browser.text("return $('#status').textContent") == "Set k.")
            try await go(to: "usage", browser)
            #expect(try await browser.text("return $('#status').textContent") == "Set k.")
            // In Firefox, scripts of tests cannot change the page's clock.
            guard browser.kind == .chromium else { return }
            try await browser.execute("const now = Date.now; Date.now = () => now() + 60_000")
            try await go(to: "keys", browser)
            try await browser.wait("$('#status').textContent === ''")
        }
    }

    @Test("names and values of any characters are shown as text, with invisible characters escaped")
    func hostileNames() async throws {
        try await open { browser, daemon in
            let names = [
                "<img src=x onerror=alert(1)>", "\u{202E}evil", "\u{3164}", "\t\n", "a/b%2F?#&", "..\u{200B}",
                String(repeating: "👩‍👩‍👧", count: 16), String(repeating: "x", count: 128),
                "e" + String(repeating: "\u{301}", count: 20), "שלום 123",
            ]
            for name in names { try await set(name, string(name), daemon) }
            try await set(" ", string(""), daemon)
            try await go(to: "keys", browser)
            for name in names { try await browser.wait(shows(VisibleText.escape(name), in: "#list .key")) }
            try await browser.wait(shows("“ ”", in: "#list .key"))
            for name in names {
                try await showKey(name, browser)
                try await browser.wait(shows(VisibleText.escape(name), in: "#detail h2"))
                let lines = VisibleText.escapedLines(name, limit: 9).joined(separator: "\n")
                try await browser.wait("$('#detail pre').textContent === \(quoted(lines))")
            }
            let ranges: [ClosedRange<UInt32>] = [
                0...0x2FF, 0x600...0x605, 0x61C...0x61C, 0x180B...0x180F, 0x2000...0x206F, 0x3164...0x3164,
                0xE000...0xE001, 0xFDD0...0xFDD1, 0xFE00...0xFE0F, 0xFEFF...0xFEFF, 0xFFF0...0xFFFF, 0x1D173...0x1D17A,
                0xE0000...0xE01EF,
            ]
            let text = ranges.joined().compactMap(Unicode.Scalar.init).filter { $0 != "\n" && $0 != "\r" }
                .map { "x\($0)" }.joined()
            try await set("all", string(text), daemon)
            try await showKey("all", browser)
            try await browser.wait("$('#detail pre').textContent === \(quoted(VisibleText.escape(text)))")
            #expect(try await browser.text("return `${document.images.length} ${document.scripts.length}`") == "0 1")

            // A client that follows RFC 3986 cannot address it.
            let response = try await daemon.send(
                .put, "/v1/stores/default/keys/..", ["Content-Type": "application/octet-stream"], body: "x")
            #expect(response.status == .ok)
            try await showKey("..", browser)
            try await browser.wait(shows("A browser cannot address the name “..”", in: "#detail .note"))
        }
    }

    @Test("copying copies the whole value unchanged, and confirms it")
    func copy() async throws {
        try await open { browser, daemon in
            let text = String(repeating: "a\u{202E}\n", count: 8_000)
            try await set("k", string(text), daemon)
            if browser.kind == .chromium {
                try await browser.devTools(
                    "Browser.grantPermissions", ["permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]])
            }
            try await showKey("k", browser)
            try await browser.wait(shows(#"a\u{202E}"#, in: "#detail pre"))
            let found = "[...document.querySelectorAll('#detail button')].find(e => e.textContent === 'Copy')"
            try await browser.execute("\(found).id = 'copy'")
            try await browser.click("#copy")
            try await browser.wait(shows("Copied", in: "#detail [role=status]"))
            guard browser.kind == .chromium else { return }
            let copied = try await browser.executeAsync(
                "navigator.clipboard.readText().then(done, error => done(String(error)))")
            #expect(copied as? String == text)
        }
    }
}
