import Foundation
import KVStore
import KVStoreTesting
import Synchronization
import Testing

/// The record of a simulated cloud, and a test that is run again with it.
@Suite("Records of simulated clouds", .timeLimit(.minutes(2)))
struct RecordTests {
    /// Runs a body with the path of a directory of its own.
    private func inDirectory(_ body: (String) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "ubiquity-records-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await body(directory)
    }

    private func content(_ path: String) throws -> Data {
        try Data(contentsOf: URL(filePath: path))
    }

    private func lines(_ path: String) throws -> [String] {
        String(decoding: try content(path), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The events of a record.
    private func events(_ path: String) throws -> [[String: Any]] {
        try lines(path).dropFirst().map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return try #require((object as? [String: Any])?["event"] as? [String: Any])
        }
    }

    /// Devices with bad networks and clocks, restarts, accounts and a quota.
    private func session(_ cloud: SimulatedCloud) async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac", .with { $0.clockError = .seconds(20) })
        let pad = try cloud.device(
            "pad",
            .with {
                $0.limits.totalByteCount = 200
                $0.account = nil
            })
        let widget = try phone.process("widget")
        // Answers what the app hears of until it restarts.
        let token = phone.notificationCenter.addObserver(
            forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: phone.store, queue: nil
        ) { _ in phone.store.set(phone.store.longLong(forKey: "count") + 1, forKey: "heard") }
        defer { phone.notificationCenter.removeObserver(token) }
        try await cloud.settle()
        phone.inject(NetworkFault(.drop, probability: 0.3, for: .seconds(400), seed: 3))
        phone.inject(NetworkFault(.duplicate, probability: 0.5, for: .seconds(400)))
        mac.inject(NetworkFault(.reorder(within: .seconds(2)), of: [.event]))
        mac.inject(NetworkFault(.delay(.seconds(1)), count: 5))
        for number in 0..<30 {
            phone.store.set(Int64(number), forKey: "count")
            mac.store.set(["at": Date(timeIntervalSince1970: 1), "b": number], forKey: "k\(number % 5)")
            widget.store.set(Double(number) / 3, forKey: "w")
            pad.store.set(String(repeating: "x", count: number * 3), forKey: "p\(number % 3)")
            await cloud.advance(by: .milliseconds(700))
            switch number {
            case 5: try pad.changeAccount(to: SimulatedCloud.defaultAccount)
            case 8: mac.isOffline = true
            case 10: try phone.restart(after: .powerFailure)
            case 12: mac.isOffline = false
            case 14: pad.hold()
            case 16: cloud.restart(after: .kill)
            case 18: try mac.reinstall()
            case 20: pad.release()
            case 22: mac.throttle = .observedOfApple
            case 24: cloud.backUp()
            case 26: cloud.restoreBackup()
            case 28: try phone.changeAccount(to: "family")
            default: mac.store.removeObject(forKey: "k\(number % 4)")
            }
        }
        mac.clockError = .zero
        phone.failNextRequest()
        _ = try? await phone.store.synchronizeNow()
        try await cloud.run { phone.accountState == .joined }
        try await cloud.settle()
    }

    @Test("a test that replays its record writes the same one, byte for byte", arguments: [1, 7])
    func replay(seed: UInt64) async throws {
        try await inDirectory { directory in
            let (first, second) = (directory + "/first.jsonl", directory + "/second.jsonl")
            let cloud = SimulatedCloud(seed: seed, record: first)
            try await session(cloud)
            let replayed = try SimulatedCloud(replaying: first, record: second)
            try await session(replayed)
            #expect(try content(first) == content(second))

            let events = try events(first)
            #expect(events.count > 300)
            #expect(events.compactMap { $0["id"] as? Int } == Array(1...events.count))
            let times = events.compactMap { $0["time"] as? Int }
            #expect(times.count == events.count && times == times.sorted())
            let kinds = Set(events.compactMap { $0["event"] as? String })
            #expect(
                kinds == [
                    "account", "backup", "change", "clock", "clockError", "conditionMet", "connected", "decision",
                    "disconnected", "ended", "fault", "faults", "notification", "reinstalled", "restarted", "restored",
                    "settled", "started", "sync", "violation", "write",
                ])
            let outcomes = Set(events.compactMap { $0["outcome"] as? String })
            #expect(outcomes.isSuperset(of: ["delayed", "dropped", "duplicated", "failed", "held", "offline"]))
        }
    }

    @Test("a record changes nothing of what happens")
    func transparency() async throws {
        try await inDirectory { directory in
            let recorded = SimulatedCloud(seed: 3, record: directory + "/record.jsonl")
            try await session(recorded)
            let plain = SimulatedCloud(seed: 3)
            try await session(plain)
            #expect(recorded.trace == plain.trace)
        }
    }

    @Test("the record is complete up to now at any time")
    func streaming() async throws {
        try await inDirectory { directory in
            let path = directory + "/record.jsonl"
            let cloud = SimulatedCloud(seed: 1, isStrict: true, record: path)
            #expect(try lines(path) == [#"{"record":{"seed":1,"source":"SimulatedCloud","strict":true,"version":1}}"#])
            let phone = try cloud.device("phone")
            phone.store.set("dark", forKey: "theme")
            #expect(
                try lines(path).last
                    == #"{"event":{"device":"phone","event":"write","id":2,"key":"theme","store":"default","time":1789732800000,"value":{"type":"string","value":"dark"},"world":"cloud"}}"#
            )
        }
    }

    @Test("a replay takes seed and strictness from the record")
    func start() async throws {
        try await inDirectory { directory in
            let path = directory + "/record.jsonl"
            let cloud = SimulatedCloud(seed: .max, isStrict: true, record: path)
            let ids = try cloud.device("phone").store.status.replica
            let replayed = try SimulatedCloud(replaying: path)
            #expect(replayed.isStrict)
            #expect(try replayed.device("phone").store.status.replica == ids)
        }
    }

    /// Runs a test, and again with its record.
    private func replay(
        _ first: (SimulatedCloud, CloudDevice) async throws -> Void,
        as second: (SimulatedCloud, CloudDevice) async throws -> Void
    ) async throws {
        try await inDirectory { directory in
            let path = directory + "/record.jsonl"
            let cloud = SimulatedCloud(seed: 1, record: path)
            try await first(cloud, cloud.device("phone"))
            let replayed = try SimulatedCloud(replaying: path)
            try await second(replayed, replayed.device("phone"))
        }
    }

    @Test("another write fails the next settling, with line and texts, once")
    func difference() async throws {
        try await replay { cloud, phone in
            phone.store.set("dark", forKey: "theme")
            try await cloud.settle()
        } as: { cloud, phone in
            phone.store.set("light", forKey: "theme")
            let error = await #expect(throws: CloudError.self) { try await cloud.settle() }
            guard case .differsFromRecord(line: 3, let recorded?, let present?) = error else {
                throw try #require(error)
            }
            #expect(recorded.contains(#""value":"dark""#) && present.contains(#""value":"light""#))
            #expect(error?.description.hasPrefix("line 3 of the record differs\nrecorded: {") == true)
            try await cloud.settle()
        }
    }

    @Test("long lines are shown from a little before the difference on")
    func excerpt() async throws {
        func value(_ mark: String) -> String {
            String(repeating: "a", count: 5_000) + mark + String(repeating: "b", count: 5_000)
        }
        try await replay { cloud, phone in
            phone.store.set(value("1"), forKey: "note")
            try await cloud.settle()
        } as: { cloud, phone in
            phone.store.set(value("2"), forKey: "note")
            let error = await #expect(throws: CloudError.self) {
                try await cloud.run { phone.store.status.pendingKeyCount == 0 }
            }
            guard case .differsFromRecord(_, let recorded?, let present?) = error else {
                throw try #require(error)
            }
            #expect(recorded.contains("aa1bb") && present.contains("aa2bb"))
            #expect(recorded.count < 500 && present.count < 500)
        }
    }

    @Test("what no longer happens fails the settling after it")
    func missing() async throws {
        try await replay { cloud, phone in
            try await cloud.settle()
            phone.store.set("dark", forKey: "theme")
            try await cloud.settle()
        } as: { cloud, _ in
            try await cloud.settle()
            let error = await #expect(throws: CloudError.self) { try await cloud.settle() }
            guard case .differsFromRecord(_, let recorded?, let present?) = error else {
                throw try #require(error)
            }
            #expect(recorded.contains(#""event":"write""#))
            #expect(present.contains(#""event":"settled""#))
        }
    }

    @Test("what happens after the end of a record is a difference, as after a crash")
    func end() async throws {
        try await inDirectory { directory in
            let path = directory + "/record.jsonl"
            let cloud = SimulatedCloud(seed: 1, record: path)
            _ = try cloud.device("phone")
            // A process that is killed may leave half a line.
            try (content(path) + Data(#"{"event":{"#.utf8)).write(to: URL(filePath: path))
            let replayed = try SimulatedCloud(replaying: path)
            _ = try replayed.device("phone")
            let error = await #expect(throws: CloudError.self) { try await replayed.settle() }
            guard case .differsFromRecord(line: 3, recorded: nil, _?) = error else {
                throw try #require(error)
            }
        }
    }

    @Test("what an observer does follows its notification")
    func response() async throws {
        try await inDirectory { directory in
            let path = directory + "/record.jsonl"
            let cloud = SimulatedCloud(seed: 1, record: path)
            let phone = try cloud.device("phone")
            let mac = try cloud.device("mac")
            let token = mac.notificationCenter.addObserver(
                forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: nil, queue: nil
            ) { _ in mac.store.set("heard", forKey: "answer") }
            defer { mac.notificationCenter.removeObserver(token) }
            phone.store.set("dark", forKey: "theme")
            try await cloud.settle()
            let macs = try events(path).filter { $0["device"] as? String == "mac" }
                .compactMap { $0["event"] as? String }
            let notification = try #require(macs.firstIndex(of: "notification"))
            #expect(macs[notification + 1] == "write")
            #expect(macs.filter { $0 == "write" }.count == 1)
        }
    }

    @Test(
        "a record that cannot be written fails the next settling, once",
        arguments: ["/dev/null/record.jsonl", "/dev/full"])
    func unwritable(path: String) async throws {
        let cloud = SimulatedCloud(seed: 1, record: path)
        let phone = try cloud.device("phone")
        phone.store.set("dark", forKey: "theme")
        let error = await #expect(throws: CloudError.self) { try await cloud.settle() }
        #expect(error?.description.contains(path) == true)
        try await cloud.settle()
        #expect(phone.store.string(forKey: "theme") == "dark")
    }

    @Test(
        "what is not the record of a simulated cloud cannot be replayed",
        arguments: [
            ("", "line 1: it is not the beginning of a record"),
            ("{}\n", "line 1: it is not the beginning of a record"),
            (
                #"{"record":{"seed":1,"source":"SimulatedCloud","strict":false,"version":2}}"# + "\n",
                "the format has version 2, and not 1"
            ),
            (
                #"{"record":{"seed":1,"strict":false,"version":1}}"# + "\n",
                "it is the record of an emulator; use kvsd emulator replay"
            ),
        ])
    func invalid(text: String, reason: String) async throws {
        try await inDirectory { directory in
            let path = directory + "/record.jsonl"
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let error = #expect(throws: CloudError.self) { try SimulatedCloud(replaying: path) }
            #expect(error?.description.hasSuffix(reason) == true, "\(error?.description ?? "")")
        }
    }

    @Test("a replay neither invents a missing record nor overwrites its own")
    func paths() async throws {
        try await inDirectory { directory in
            let path = directory + "/record.jsonl"
            #expect(throws: CloudError.self) { try SimulatedCloud(replaying: path) }
            _ = SimulatedCloud(seed: 1, record: path)
            let recorded = try content(path)
            #expect(throws: CloudError.self) { try SimulatedCloud(replaying: path, record: path) }
            #expect(try content(path) == recorded)
        }
    }
}
