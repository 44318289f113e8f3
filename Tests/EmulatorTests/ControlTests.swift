import Foundation
import HTTPTypes
import KVStore
import KVStoreHTTP
import KVStoreWire
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import KVStoreEmulator
import KVStoreServer

/// Faults, clock, accounts, quota and settling of an emulator, met by raw requests and by real stores.
@Suite("Controlling a world", .timeLimit(.minutes(2)))
struct ControlTests {
    private func fault(
        _ fault: String, on device: String, of world: String = "w", _ client: EmulatorClient
    ) async throws {
        let answer = try await client.administer(.post, "/worlds/\(world)/devices/\(device)/faults", body: fault)
        try #require(answer.status == .created, "\(answer.text)")
    }

    private func settle(_ client: EmulatorClient, timeout: Int = 10_000) async throws -> SettlingReport {
        let answer = try await client.administer(.post, "/worlds/w/settle?timeout=\(timeout)&quiet=50")
        return try answer.decoded(SettlingReport.self)
    }

    /// The effects of the next `count` faults.
    private func outcomes(_ count: Int, _ client: EmulatorClient) async throws -> [String] {
        var reader = try await client.stream("/emulator/v1/worlds/w/events?after=0")
        var outcomes: [String] = []
        while outcomes.count < count, let event = await reader.nextEvent() {
            if event.name == "fault" { outcomes.append(event.fields["outcome"] as? String ?? "") }
        }
        await reader.connection.close()
        return outcomes
    }

    @Test("a lost request changes nothing, and one whose answer is lost has been executed")
    func drop() async throws {
        try await EmulatorClient.run { client in
            try await client.put("old", "k", token: "w/mac")
            try await fault(#"{"effect":"drop","messages":["request"],"count":1}"#, on: "phone", client)
            await #expect(throws: (any Error).self) {
                try await client.put("lost", "k", token: "w/phone")
            }
            #expect(try await client.get("k", token: "w/mac") == "old")
            try await fault(#"{"effect":"drop","messages":["answer"],"count":1}"#, on: "phone", client)
            await #expect(throws: (any Error).self) {
                try await client.put("new", "k", token: "w/phone")
            }
            #expect(try await client.get("k", token: "w/mac") == "new")
            #expect(try await outcomes(2, client) == ["dropped", "dropped"])
        }
    }

    @Test(
        "a failure has the status of its reason, once",
        arguments: [("unauthorized", 401), ("forbidden", 403), ("throttled", 429), ("unavailable", 503), ("full", 507)])
    func fail(reason: String, status: Int) async throws {
        try await EmulatorClient.run { client in
            try await fault(#"{"effect":"fail","reason":"\#(reason)","count":1}"#, on: "phone", client)
            let answer = try await client.put("v", "k", token: "w/phone")
            #expect(answer.status.code == status)
            #expect(try await client.put("v", "k", token: "w/phone").status == .ok)
            #expect(try await client.put("v", "k", token: "w/mac").status == .ok)
        }
    }

    @Test("a held request arrives when the fault is removed, and settle names it until then")
    func hold() async throws {
        try await EmulatorClient.run { client in
            try await fault(#"{"effect":"hold","messages":["request"]}"#, on: "phone", client)
            async let answer = client.put("v", "k", token: "w/phone")
            #expect(try await outcomes(1, client) == ["held"])
            #expect(try await client.get("k", token: "w/mac") == nil)
            let report = try await settle(client, timeout: 100)
            #expect(report.waiting == ["phone: a request is held"])
            #expect(!report.settled)
            #expect(try await client.administer(.delete, "/worlds/w/devices/phone/faults").status == .noContent)
            #expect(try await answer.status == .ok)
            #expect(try await client.get("k", token: "w/mac") == "v")
            #expect(try await settle(client).settled)
        }
    }

    @Test("delays end by the clock of the world: one that stands still holds messages until it is moved")
    func delayByClock() async throws {
        try await EmulatorClient.run { client in
            _ = try await client.administer(.put, "/worlds/w/clock", body: #"{"time":1800000000000}"#)
            try await fault(#"{"effect":"delay","milliseconds":60000,"messages":["request"]}"#, on: "phone", client)
            async let answer = client.put("v", "k", token: "w/phone")
            #expect(try await outcomes(1, client) == ["delayed"])
            let report = try await settle(client, timeout: 100)
            #expect(report.waiting == ["phone: a request is delayed by another 60000 ms"])
            let clock = try await client.administer(.put, "/worlds/w/clock", body: #"{"advance":60000}"#)
            #expect(try clock.decoded(ClockReport.self).time == 1_800_000_060_000)
            let summary = try await answer.decoded(KeySummary.self)
            #expect(summary.stamp.milliseconds == 1_800_000_060_000)
        }
    }

    @Test("a fault ends after its time to live")
    func timeToLive() async throws {
        try await EmulatorClient.run { client in
            _ = try await client.administer(.put, "/worlds/w/clock", body: #"{"time":1000}"#)
            try await fault(#"{"effect":"offline","timeToLive":500}"#, on: "phone", client)
            await #expect(throws: (any Error).self) {
                try await client.get("k", token: "w/phone")
            }
            _ = try await client.administer(.put, "/worlds/w/clock", body: #"{"advance":500}"#)
            #expect(try await client.put("v", "k", token: "w/phone").status == .ok)
        }
    }

    @Test("after the clock is set back, a fault lasts as long as its time to live")
    func timeToLiveOfClockSetBack() async throws {
        try await EmulatorClient.run { client in
            func remaining() async throws -> Int64? {
                let answer = try await client.administer(.get, "/worlds/w/devices/phone/faults")
                return try answer.decoded(FaultList.self).faults.first?.remaining
            }
            func setClock(_ change: String) async throws {
                _ = try await client.administer(.put, "/worlds/w/clock", body: change)
            }
            try await setClock(#"{"time":1800000000000}"#)
            try await fault(#"{"effect":"offline","timeToLive":60000}"#, on: "phone", client)
            try await setClock(#"{"advance":50000}"#)
            #expect(try await remaining() == 10_000)
            try await setClock(#"{"advance":-20000}"#)
            #expect(try await remaining() == 30_000)
            try await setClock(#"{"advance":-3600000}"#)
            #expect(try await remaining() == 60_000)
            try await setClock(#"{"advance":59999}"#)
            #expect(try await remaining() == 1)
            try await setClock(#"{"advance":1}"#)
            #expect(try await remaining() == nil)
        }
    }

    @Test("the default throttle lets 15 requests pass in 90 seconds of the world")
    func throttle() async throws {
        try await EmulatorClient.run { client in
            _ = try await client.administer(.put, "/worlds/w/clock", body: #"{"time":1000}"#)
            try await fault(#"{"effect":"throttle"}"#, on: "phone", client)
            for number in 1...15 {
                #expect(try await client.put("\(number)", "k", token: "w/phone").status == .ok)
            }
            let refused = try await client.put("16", "k", token: "w/phone")
            #expect(refused.status == .tooManyRequests)
            #expect(refused.headers[.retryAfter] == "90")
            #expect(try await client.get("k", token: "w/phone") == "15")
            _ = try await client.administer(.put, "/worlds/w/clock", body: #"{"advance":90000}"#)
            #expect(try await client.put("17", "k", token: "w/phone").status == .ok)
        }
    }

    @Test("the same seed affects the same requests")
    func seed() async throws {
        var runs: [[Bool]] = []
        for _ in 1...2 {
            try await EmulatorClient.run { client in
                try await fault(#"{"effect":"fail","reason":"full","probability":0.5,"seed":11}"#, on: "phone", client)
                var run: [Bool] = []
                for number in 0..<40 {
                    run.append(try await client.put("\(number)", "k", token: "w/phone").status == .ok)
                }
                runs.append(run)
            }
        }
        #expect(runs[0] == runs[1])
        #expect(Set(runs[0]) == [true, false])
    }

    @Test("a late event does not overtake, a lost one breaks the stream, and the world settles")
    func events() async throws {
        try await EmulatorClient.run { client in
            try await client.put("1", "k", token: "w/mac")
            var reader = try await client.stream("/v1/stores/s/changes?since=1", token: "w/phone")
            #expect(await reader.nextEvent()?.name == "opened")
            try await fault(#"{"effect":"hold","messages":["event"]}"#, on: "phone", client)
            try await client.put("2", "k", token: "w/mac")
            try await client.put("3", "l", token: "w/mac")
            #expect(try await outcomes(2, client) == ["held", "held"])
            let report = try await settle(client, timeout: 100)
            #expect(report.waiting.filter { $0 == "phone: an event is held" }.count == 2)
            _ = try await client.administer(.delete, "/worlds/w/devices/phone/faults")
            #expect(await reader.nextEvent()?.fields["key"] as? String == "k")
            #expect(await reader.nextEvent()?.fields["key"] as? String == "l")
            #expect(try await settle(client).settled)
            try await fault(#"{"effect":"drop","messages":["event"],"count":1}"#, on: "phone", client)
            try await client.put("4", "k", token: "w/mac")
            #expect(await reader.nextEvent() == nil)
        }
    }

    @Test("an offline device is cut off, and back at the end of the fault")
    func offline() async throws {
        try await EmulatorClient.run { client in
            try await client.put("1", "k", token: "w/mac")
            var reader = try await client.stream("/v1/stores/s/changes?since=1", token: "w/phone")
            #expect(await reader.nextEvent()?.name == "opened")
            try await fault(#"{"effect":"offline"}"#, on: "phone", client)
            #expect(await reader.nextEvent() == nil)
            _ = try await client.administer(.delete, "/worlds/w/devices/phone/faults/1")
            #expect(try await client.get("k", token: "w/phone") == "1")
        }
    }

    @Test("a duplicated request is executed twice, and the second time changes nothing")
    func duplicate() async throws {
        try await EmulatorClient.run { client in
            _ = try await client.administer(.put, "/worlds/w/clock", body: #"{"time":1000}"#)
            try await fault(#"{"effect":"duplicate","count":1}"#, on: "phone", client)
            try await client.put("phone", "k", token: "w/phone")
            try await client.put("mac", "l", token: "w/mac")
            _ = try await client.administer(.put, "/worlds/w/clock", body: #"{"advance":2000}"#)
            #expect(try await settle(client).settled)
            #expect(try await client.get("k", token: "w/mac") == "phone")
            let keys = try await client.execute(.get, "/v1/stores/s/keys", token: "w/mac")
            let sequences = try keys.decoded(KeyList.self).keys.map(\.seq)
            #expect(sequences == [1, 2])
        }
    }

    @Test("accounts of a world have stores of their own, and a device that signed out has none")
    func accounts() async throws {
        try await EmulatorClient.run { client in
            func change(_ account: String) async throws {
                let answer = try await client.administer(
                    .put, "/worlds/w/devices/phone/account", body: #"{"account":\#(account)}"#)
                try #require(answer.status == .ok, "\(answer.text)")
            }
            try await client.put("A", "k", token: "w/phone")
            try await change("null")
            #expect(try await client.put("none", "k", token: "w/phone").status == .unauthorized)
            try await change(#""B""#)
            #expect(try await client.get("k", token: "w/phone") == nil)
            try await client.put("B", "k", token: "w/phone")
            #expect(try await client.get("k", token: "w/mac") == "A")
            try await change(#""default""#)
            #expect(try await client.get("k", token: "w/phone") == "A")
            let worlds = try await client.administer(.get, "/worlds").decoded(WorldList.self)
            #expect(worlds.worlds.map(\.world) == ["w"])
            #expect(worlds.worlds.first?.storeCount == 2)
            _ = try await client.administer(.delete, "/worlds/w")
            try await change(#""B""#)
            #expect(try await client.get("k", token: "w/phone") == nil)
        }
    }

    @Test("a quota rejects what does not fit, and a strict world names the call")
    func quota() async throws {
        try await EmulatorClient.run { client in
            func settings(_ body: String) async throws {
                let answer = try await client.administer(.put, "/worlds/w/settings", body: body)
                try #require(answer.status == .ok, "\(answer.text)")
            }
            try await settings(#"{"quota":{"profile":"classic","totalByteCount":10}}"#)
            #expect(try await client.put("12345", "a", token: "w/phone").status == .ok)
            let full = try await client.put("123456", "b", token: "w/phone")
            #expect(full.problemCode == "quota", "\(full.text)")
            #expect(try await client.put("1234567890", "a", token: "w/phone").status == .ok)
            try await settings(#"{"strict":true}"#)
            let refused = try await client.put("v", "b", token: "w/phone")
            #expect(refused.status.code == 422)
            #expect(refused.text.contains(#"phone: set(_, forKey: \"b\"): "#), "\(refused.text)")
            let list = try await client.administer(.get, "/worlds/w/violations").decoded(ViolationList.self)
            #expect(list.violations.map(\.device) == ["phone"])
        }
    }

    @Test("faults and clocks of one world do not exist in another, and a reset ends them")
    func isolation() async throws {
        try await EmulatorClient.run { client in
            try await fault(#"{"effect":"offline"}"#, on: "phone", client)
            _ = try await client.administer(.put, "/worlds/w/clock", body: #"{"time":1000}"#)
            #expect(try await client.put("v", "k", token: "x/phone").status == .ok)
            _ = try await client.administer(.delete, "/worlds/w")
            #expect(try await client.put("v", "k", token: "w/phone").status == .ok)
            let clock = try await client.administer(.get, "/worlds/w/clock")
            #expect(try clock.decoded(ClockReport.self).following)
        }
    }

    @Test("a clock that is set back does not keep events from open streams")
    func clockBack() async throws {
        try await EmulatorClient.run { client in
            try await client.put("1", "k", token: "w/mac")
            var reader = try await client.stream("/v1/stores/s/changes?since=1", token: "w/phone")
            #expect(await reader.nextEvent()?.name == "opened")
            _ = try await client.administer(.put, "/worlds/w/clock", body: #"{"time":4000000000000}"#)
            try await client.put("2", "k", token: "w/mac")
            #expect(await reader.nextEvent()?.fields["key"] as? String == "k")
            _ = try await client.administer(.put, "/worlds/w/clock", body: #"{"follow":true}"#)
            try await client.put("3", "l", token: "w/mac")
            #expect(await reader.nextEvent()?.fields["key"] as? String == "l")
        }
    }

    @Test("a request that is held is lost when its device changes the account")
    func heldAcrossAccounts() async throws {
        try await EmulatorClient.run { client in
            try await fault(#"{"effect":"hold","messages":["request"]}"#, on: "phone", client)
            let held = Task { try await client.put("A", "k", token: "w/phone") }
            #expect(try await outcomes(1, client) == ["held"])
            _ = try await client.administer(.put, "/worlds/w/devices/phone/account", body: #"{"account":"B"}"#)
            _ = try await client.administer(.delete, "/worlds/w/devices/phone/faults")
            await #expect(throws: (any Error).self) { try await held.value }
            #expect(try await client.get("k", token: "w/phone") == nil)
            #expect(try await client.get("k", token: "w/mac") == nil)
            let devices = try await client.execute(.get, "/v1/devices", token: "w/phone")
            #expect(try devices.decoded(DeviceList.self).devices.count == 2)
        }
    }

    @Test("a held request is lost when the world is reset, and the fresh world stays empty")
    func heldAcrossReset() async throws {
        try await EmulatorClient.run { client in
            try await fault(#"{"effect":"hold","messages":["request"]}"#, on: "phone", client)
            let held = Task { try await client.put("old", "k", token: "w/phone") }
            #expect(try await outcomes(1, client) == ["held"])
            _ = try await client.administer(.delete, "/worlds/w")
            await #expect(throws: (any Error).self) { try await held.value }
            #expect(try await client.get("k", token: "w/phone") == nil)
        }
    }

    @Test("a world that was never quiet has not settled at the timeout")
    func restless() async throws {
        try await EmulatorClient.run { client in
            try await client.put("1", "k", token: "w/mac")
            let answer = try await client.administer(.post, "/worlds/w/settle?timeout=50&quiet=60000")
            let report = try answer.decoded(SettlingReport.self)
            #expect(!report.settled)
            #expect(report.waiting == ["something happened within the last 60000 ms"])
        }
    }

    @Test("an emulator that stops loses what a fault holds")
    func stopping() async throws {
        let emulator = try Emulator()
        async let serving: Void = emulator.run()
        let url = try await emulator.running.url
        let port = try #require(Int(url.split(separator: ":").last ?? ""))
        let (phone, page) = (TestClient(port: port), TestClient(port: port))
        let added = try await page.execute(
            uri: "/emulator/v1/worlds/w/devices/phone/faults", method: .post,
            headers: [.contentType: "application/json"], body: ByteBuffer(string: #"{"effect":"hold"}"#))
        #expect(added.status == .created)
        let held = Task {
            try await phone.execute(uri: "/v1/me", method: .get, headers: [.authorization: "Bearer w/phone"])
        }
        let settling = try await page.execute(uri: "/emulator/v1/worlds/w/settle?timeout=100&quiet=0", method: .post)
        #expect(settling.status == .ok)
        await emulator.stop()
        await #expect(throws: (any Error).self) { try await held.value }
        try await serving
        await page.close()
    }
}
