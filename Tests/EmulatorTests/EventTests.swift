import Foundation
import HTTPTypes
import KVStoreEmulator
import KVStoreServer
import NIOCore
import ServerTestSupport
import Testing

@Suite("Events of the emulator", .timeLimit(.minutes(5)))
struct EventTests {
    @Test("events show what devices do, with typed values")
    func events() async throws {
        try await EmulatorClient.run { client in
            var reader = try await client.stream("/emulator/v1/worlds/one/events")
            #expect(await reader.nextEvent()?.name == "opened")
            try await client.put("unseen", "k", token: "two/phone")
            try await client.put("green", "color", token: "one/phone")
            let change = try #require(await reader.nextEvent())
            #expect(change.name == "change")
            #expect(change.fields["key"] as? String == "color")
            #expect(change.fields["device"] as? String == "phone")
            #expect(change.fields["value"] as? [String: String] == ["type": "string", "value": "green"])
            // An equal value changes nothing.
            try await client.put("green", "color", token: "one/phone")
            _ = try await client.sync(token: "one/desk")
            let sync = try #require(await reader.nextEvent())
            #expect(sync.name == "sync" && sync.fields["device"] as? String == "desk")
            #expect(sync.fields["received"] as? [String] == ["color"])
            #expect(sync.fields["sent"] as? [String] == [])
            var stream = try await client.stream("/v1/stores/s/changes?since=1", token: "one/desk")
            #expect(await stream.nextEvent()?.name == "opened")
            #expect(await reader.nextEvent()?.name == "connected")
            let list = try await client.administer(.get, "/worlds/one").text
            #expect(list.contains(#""connected":true"#))
            await stream.connection.close()
            #expect(await reader.nextEvent()?.name == "disconnected")
            _ = try await client.execute(.delete, "/v1/stores/s/keys/color", token: "one/phone")
            let removal = try #require(await reader.nextEvent())
            #expect(removal.fields["deleted"] as? Bool == true && removal.fields["value"] == nil)
            _ = try await client.administer(.delete, "/worlds/one")
            #expect(await reader.nextEvent()?.name == "reset")
            _ = try await client.administer(.put, "/worlds/one/export", body: #"{"version":1,"stores":[]}"#)
            #expect(await reader.nextEvent()?.name == "import")
            await reader.connection.close()
        }
    }

    @Test("a reader continues after the event that it names")
    func resuming() async throws {
        try await EmulatorClient.run { client in
            for value in ["a", "b", "c"] { try await client.put(value, "k", token: "one") }
            for (path, more) in [("?after=1", ""), ("", "Last-Event-ID: 1\r\n")] {
                var reader = try await client.stream("/emulator/v1/events\(path)", more: more)
                #expect(await reader.nextEvent()?.name == "opened")
                #expect(await reader.nextEvent()?.id == "2")
                #expect(await reader.nextEvent()?.id == "3")
                await reader.connection.close()
            }
            let invalid = try await client.administer(.get, "/events?after=x")
            #expect(invalid.problemCode == "malformed")
        }
    }

    @Test("a reader that has missed events is notified, and its stream ends")
    func missed() async throws {
        var limits = EmulatorLimits()
        limits.eventCount = 3
        try await EmulatorClient.run(limits: limits) { client in
            for value in ["a", "b", "c", "d", "e"] {
                try await client.put(value, "k", token: "one")
            }
            var late = try await client.stream("/emulator/v1/events?after=1")
            #expect(await late.nextEvent()?.name == "missed")
            #expect(await late.nextEvent() == nil)
            var timely = try await client.stream("/emulator/v1/events?after=2")
            #expect(await timely.nextEvent()?.name == "opened")
            #expect(await timely.nextEvent()?.id == "3")
            await timely.connection.close()
        }
    }

    @Test("a reader that reads nothing costs no memory and holds up nobody")
    func slowReader() async throws {
        var limits = EmulatorLimits()
        limits.eventByteCount = 1_000_000
        try await EmulatorClient.run(limits: limits) { client in
            let connection = try await RawConnection.open(port: client.port, reads: false)
            try await connection.send("GET /emulator/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for index in 0..<100 {
                let text = "\(index)" + String(repeating: "x", count: 100_000)
                #expect(try await client.put(text, "k", token: "one").status == .ok)
            }
            // It reads on, and learns that it has missed some.
            try await connection.channel.setOption(.autoRead, value: true).get()
            connection.channel.read()
            #expect(await connection.rest().contains("event: missed"))
        }
    }
}
