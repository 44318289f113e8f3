import ServerTestSupport
import Foundation
import HTTPTypes
import Testing

/// Editing keys, and why a value won.
extension PageTests {
    private func set(_ key: String, _ type: String, _ value: String, _ browser: Browser) async throws {
        try await browser.click("#add-key")
        try await browser.fill("#edit-key", key)
        try await browser.click("#edit-type option[value=\(type)]")
        try await browser.fill("#edit-value", value)
        try await browser.click("#editor .primary")
    }

    @Test("an edited value arrives at another device")
    func edit() async throws {
        try await open { browser, client in
            try await browser.click(#"#keys [aria-label="Edit colour"]"#)
            #expect(try await browser.text("return $('#edit-value').value") == "green")
            try await browser.fill("#edit-value", "blue")
            try await browser.click("#editor .primary")
            try await browser.wait(shows(#""blue""#, in: "#keys .value"))
            #expect(try await client.get("colour", token: "demo/desk") == "blue")
        }
    }

    @Test("a value of each type is added, and exported as it was typed")
    func types() async throws {
        try await open { browser, client in
            let values = [
                ("string", " a \"b\" ", #""type":"string","value":" a \"b\" ""#),
                ("integer", "9223372036854775807", #""type":"integer","value":9223372036854775807"#),
                ("double", "1.5", #""type":"double","value":1.5"#), ("bool", "true", #""type":"bool","value":true"#),
                ("date", "2026-09-18T12:00:00Z", #""type":"date","value":"2026-09-18T12:00:00Z""#),
                ("data", "AAEC", #""type":"data","value":"AAEC""#),
                (
                    "array", #"[1, "x"]"#,
                    #""type":"array","value":[{"type":"integer","value":1},{"type":"string","value":"x"}]"#
                ), ("dictionary", #"{"a": true}"#, #""type":"dictionary","value":{"a":{"type":"bool","value":true}}"#),
            ]
            for (type, text, _) in values {
                try await set("of-\(type)", type, text, browser)
                try await browser.wait(shows("Set of-\(type)", in: "#status"))
            }
            let exported = try await client.administer(.get, "/worlds/demo/export").text
            for (type, _, expected) in values {
                #expect(exported.contains(#""key":"of-\#(type)",\#(expected)"#), "\(exported)")
            }
        }
    }

    @Test("a value that is not of its type is an error in the dialog, which stays open")
    func invalidValue() async throws {
        try await open { browser, client in
            try await set("k", "integer", "seven", browser)
            try await browser.wait(shows("digits", in: "#edit-error"))
            try await browser.press(.escape)
            try await browser.wait("!$('#editor').open")
            #expect(try await client.get("k", token: "demo/desk") == nil)
        }
    }

    @Test("a key is removed after a question")
    func remove() async throws {
        try await open { browser, client in
            try await browser.click(#"#keys [aria-label="Remove colour"]"#)
            try await browser.click("#remove [value=remove]")
            try await browser.wait(shows("deleted", in: "#keys .value"))
            #expect(try await client.get("colour", token: "demo/desk") == nil)
        }
    }

    @Test("a key shows why its value won")
    func explanation() async throws {
        try await open { browser, client in
            try await client.put("red", "colour", token: "demo/desk")
            try await browser.wait(shows(#""red""#, in: "#keys .value"))
            try await browser.click("#keys button.key")
            try await browser.wait("document.querySelectorAll('#why-decisions li').length === 2")
            #expect(try await browser.text("return $('#why-decisions .winner .value').textContent") == #""red""#)
            try await browser.click("#why-details summary")
            try await browser.wait(shows("colour", in: "#why-text"))
            try await browser.click("#close-why")
            try await browser.wait("$('#why').hidden")
        }
    }

    @Test("no request of the page fails")
    func requests() async throws {
        try await open { browser, _ in
            try await browser.click("#keys button.key")
            try await browser.wait("document.querySelector('#why-decisions li')")
            let requests = try await browser.requests()
            #expect(requests.contains { $0.status == 200 })
            let failed = requests.filter(\.hasFailed)
            #expect(failed.isEmpty, "\(failed)")
        }
    }
}
