import ServerTestSupport
import Foundation
import HTTPTypes
import Testing

/// Faults, accounts, clock and settings.
extension PageTests {
    private func document(_ client: EmulatorClient, _ path: String) async throws -> [String: Any] {
        let text = try await client.administer(.get, "/worlds/demo\(path)").text
        return try #require(try HTTPExamples.json(text) as? [String: Any])
    }

    private func faults(_ client: EmulatorClient) async throws -> [[String: Any]] {
        try #require(try await document(client, "/devices/phone/faults")["faults"] as? [[String: Any]])
    }

    private static let phone = #"#devices [aria-label="Device phone"]"#

    @Test("a switch adds a fault with its parameters and time to live, and removes it")
    func faultSwitch() async throws {
        try await open { browser, client in
            let delay = Self.phone + " [data-effect=delay]"
            try await browser.fill(Self.phone + #" [aria-label="Delay: milliseconds"]"#, "400")
            try await browser.click(Self.phone + #" [id$="-ttl"] option[value="60000"]"#)
            try await browser.click(delay)
            try await browser.wait("$('\(delay)').ariaChecked === 'true'")
            let added = try await faults(client)
            #expect(added.count == 1)
            #expect(added.first?["effect"] as? String == "delay")
            #expect(added.first?["milliseconds"] as? Int == 400)
            #expect(added.first?["timeToLive"] as? Int == 60_000)
            try await browser.wait(shows("left", in: Self.phone + " .remaining"))
            try await browser.click(delay)
            try await browser.wait("$('\(delay)').ariaChecked === 'false'")
            #expect(try await faults(client).isEmpty)
        }
    }

    @Test("all effects can be switched on, and cleared together")
    func allFaults() async throws {
        try await open { browser, client in
            let effects = ["offline", "hold", "delay", "reorder", "drop", "duplicate", "throttle", "fail"]
            for effect in effects {
                try await browser.click(Self.phone + " [data-effect=\(effect)]")
                try await browser.wait("$('\(Self.phone) [data-effect=\(effect)]').ariaChecked === 'true'")
            }
            let found = try await faults(client)
            #expect(found.compactMap { $0["effect"] as? String } == effects)
            let throttle = try #require(found.first { $0["effect"] as? String == "throttle" })
            #expect(throttle["requestCount"] as? Int == 15 && throttle["window"] as? Int == 90_000)
            #expect(found.last?["reason"] as? String == "unreachable")
            try await browser.click(Self.phone + " .faults > button")
            try await browser.wait("!document.querySelector('\(Self.phone) [aria-checked=true]')")
            #expect(try await faults(client).isEmpty)
        }
    }

    @Test("a fault that a test adds turns its switch on")
    func foreignFault() async throws {
        try await open { browser, client in
            _ = try await client.administer(
                .post, "/worlds/demo/devices/phone/faults",
                body: #"{"effect":"throttle","requestCount":3,"window":60000}"#)
            try await browser.wait("$('\(Self.phone) [data-effect=throttle]').ariaChecked === 'true'")
            #expect(try await browser.text("return $('\(Self.phone) [aria-label=\"Throttle: window\"]').value") == "60")
        }
    }

    @Test("a device can be given another account, and be signed out")
    func account() async throws {
        try await open { browser, client in
            let select = Self.phone + #" select[id$="-account"]"#
            for (value, expected) in [("B", "B"), ("", nil), ("default", "default")] {
                try await browser.click(select + #" option[value="\#(value)"]"#)
                try await browser.wait(
                    shows(expected.map { "uses the account \($0)" } ?? "phone is signed out", in: "#status"))
                let devices = try await document(client, "")["devices"] as? [[String: Any]]
                let phone = try #require(devices?.first { $0["device"] as? String == "phone" })
                #expect(phone["account"] as? String == expected)
            }
        }
    }

    @Test("the clock is stopped, set, advanced, and follows again")
    func clock() async throws {
        try await open { browser, client in
            try await browser.fill("#clock-time", "2026-09-18T12:00:00Z")
            try await browser.click("#clock-set button")
            try await browser.wait(shows("stands still", in: "#clock-state"))
            #expect(try await document(client, "/clock")["time"] as? Int == 1_789_732_800_000)
            try await browser.fill("#advance-count", "90")
            try await browser.click("#clock-advance button")
            try await browser.wait(shows("2026-09-18 13:30:00.000Z", in: "#clock"))
            #expect(try await document(client, "/clock")["time"] as? Int == 1_789_738_200_000)
            try await browser.click("#clock-follow")
            try await browser.wait(shows("following real time", in: "#clock-state"))
            #expect(try await document(client, "/clock")["following"] as? Bool == true)
        }
    }

    @Test("settings are applied, and what strict mode refuses is listed")
    func settings() async throws {
        try await open { browser, client in
            try await browser.click("#strict")
            try await browser.click("#profile option[value=classic]")
            try await browser.fill("#limit-totalByteCount", "1000")
            try await browser.click("#settings-form button")
            try await browser.wait(shows("Settings applied", in: "#status"))
            let settings = try await document(client, "/settings")
            #expect(settings["strict"] as? Bool == true)
            let quota = try #require(settings["quota"] as? [String: Any])
            #expect(quota["profile"] as? String == "classic")
            #expect(quota["totalByteCount"] as? Int == 1_000)
            #expect(quota["keyCount"] as? Int == 1_024)
            try await browser.wait("$('#limit-keyLength').value === '64'")
            let answer = try await client.put(String(repeating: "v", count: 2_000), "large", token: "demo/phone")
            #expect(answer.status != .ok)
            try await browser.wait(shows("large", in: "#violations li"))
        }
    }

    @Test("settling reports how long it took")
    func settle() async throws {
        try await open { browser, _ in
            try await browser.press("s")
            try await browser.wait(shows("Settled after", in: "#status"))
        }
    }
}
