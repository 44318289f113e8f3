import Foundation
import TestSupport
import SnapshotModels
import Testing

/// What `kvs device list` says about the other devices, as real programs and a daemon make it so.
@Suite("Presence and names of devices", .timeLimit(.minutes(5)))
struct DevicePresenceTests {
    private let daemons = DaemonTests()

    /// One of the objects that `device list --json` prints.
    private struct Listed: Decodable, Equatable {
        var device: String
        var deviceID: String
        var presence: String
        var connected: Bool?
        var lastSeen: String?
        var lastPush: String?
        var asOf: String?
        var thisDevice: Bool
    }

    /// A desk, which is an administrator, and a phone.
    private func withDevices(
        _ body: (
            _ desk: TemporaryHome, _ phone: TemporaryHome, _ server: TemporaryHome, _ daemon: RunningProgram
        ) async throws -> Void
    ) async throws {
        try await daemons.withDaemon(devices: ["phone"], admins: ["desk"]) {
            url, tokens, server, daemon in
            let (desk, phone) = (try TemporaryHome(), try TemporaryHome())
            defer { for home in [desk, phone] { home.remove() } }
            for (home, name) in [(desk, "desk"), (phone, "phone")] {
                let joined = try await daemons.join(home, url, tokens[name])
                #expect(joined.status == 0, "\(joined.errors)")
            }
            try await body(desk, phone, server, daemon)
        }
    }

    private func listed(_ home: TemporaryHome) async throws -> [String: Listed] {
        let outcome = try await home.patiently("device", "list", "--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let devices = try JSONDecoder().decode([Listed].self, from: outcome.output)
        return Dictionary(uniqueKeysWithValues: devices.map { ($0.device, $0) })
    }

    /// A push of the phone, as usage-push makes it.
    private func push(_ phone: TemporaryHome, id: String, secondsAgo: Double) async throws {
        let snapshot = SyncedUsageSnapshot(
            providers: [], syncTimestamp: Date().addingTimeInterval(-secondsAgo),
            deviceName: "host", deviceID: "0b1e", daemonDeviceID: id)
        let file = phone.path + "/snapshot"
        try SnapshotCodec.encode(snapshot).write(to: URL(filePath: file))
        let set = try await phone.patiently(
            "set", SyncedUsageSnapshot.storeKey(deviceID: "0b1e"), "--data-file", file, "--require-sync")
        #expect(set.status == 0, "\(set.errors)")
    }

    private func stop(_ daemon: RunningProgram) async {
        daemon.interrupt()
        _ = await daemon.status()
    }

    private func watch(_ home: TemporaryHome) async throws -> (RunningProgram, AsyncStream<String>.Iterator) {
        let watch = try RunningProgram(home, "kvs", ["watch"])
        var notes = watch.errors.makeAsyncIterator()
        while let note = await notes.next(), note != "kvs: connected" {}
        return (watch, notes)
    }

    @Test("a removed device is forgotten with all that it has pushed, and one of the account is not")
    func forgets() async throws {
        try await withDevices { desk, phone, _, _ in
            let id = try #require(try await listed(desk)["phone"]?.deviceID)
            try await push(phone, id: id, secondsAgo: 0)
            let history = try await phone.patiently(
                "set", "com.codexbar.usage.history.0b1e", "past", "--require-sync")
            #expect(history.status == 0, "\(history.errors)")
            let early = try await desk.patiently("device", "forget", "host")
            #expect(early.status == 1 && early.errors.contains("kvs device remove"))

            let removed = try await desk.patiently("device", "remove", "phone")
            #expect(removed.errors.contains("kvs device forget \(id)"), "\(removed.errors)")
            let forgot = try await desk.patiently("device", "forget", id, "--require-sync")
            #expect(forgot.status == 0 && forgot.text == "forgot host (0b1e)\n", "\(forgot.errors)")
            let keys = try await desk.patiently("ls")
            #expect(keys.status == 0 && !keys.text.contains("0b1e"), "\(keys.text)")
            let again = try await desk.patiently("device", "forget", id)
            #expect(again.status == 1, "\(again.errors)")
        }
    }

    @Test("while the daemon answers, its connections count, then the last push")
    func connections() async throws {
        try await withDevices { desk, phone, _, _ in
            var devices = try await listed(desk)
            #expect(devices["desk"]?.presence == "online" && devices["desk"]?.thisDevice == true)
            #expect(devices["phone"]?.presence == "offline")
            #expect(devices["phone"]?.lastSeen != nil && devices["phone"]?.asOf == nil)
            let id = try #require(devices["phone"]?.deviceID)
            let (watch, _) = try await watch(phone)
            #expect(try await listed(desk)["phone"]?.presence == "online")
            try await push(phone, id: id, secondsAgo: 290)
            devices = try await listed(desk)
            #expect(devices["phone"]?.presence == "online" && devices["phone"]?.lastPush != nil)
            try await push(phone, id: id, secondsAgo: 300)
            devices = try await listed(desk)
            #expect(devices["phone"]?.presence == "notReporting")
            #expect(devices["phone"]?.connected == true)
            let text = try await desk.patiently("device", "list").text
            #expect(text.contains(/phone .+ connected, not reporting +now\n/), "\(text)")
            watch.interrupt()
            _ = await watch.status()
            // The daemon may notice the end of the connection later than the program ends.
            while try await listed(desk)["phone"]?.presence == "notReporting" {}
            #expect(try await listed(desk)["phone"]?.presence == "offline")
        }
    }

    @Test(
        "while the daemon is unreachable, only pushes that this machine has received count",
        arguments: [
            (nil, "unknown", "unknown (unchecked)"), (5, "active", "active"),
            (400, "stale", "stale"), (-3_600, "clockAhead", "clock ahead"),
        ] as [(Double?, String, String)])
    func unreachable(secondsAgo: Double?, presence: String, word: String) async throws {
        try await withDevices { desk, phone, _, daemon in
            let before = try await listed(desk)
            let id = try #require(before["phone"]?.deviceID)
            if let secondsAgo {
                try await push(phone, id: id, secondsAgo: secondsAgo)
                #expect(try await desk.patiently("sync").status == 0)
            }
            await stop(daemon)
            let after = try #require(try await listed(desk)["phone"])
            #expect(after.presence == presence && after.connected == nil)
            #expect(after.lastSeen == before["phone"]?.lastSeen && after.asOf != nil)
            #expect((after.lastPush != nil) == (secondsAgo != nil))
            let list = try await desk.kvs("device", "list")
            #expect(list.errors.contains("showing the devices as listed just now"))
            #expect(list.text.contains(" \(word) "), "\(list.text)")
            #expect(list.text.contains(/desk .+ offline +just now +this device\n/), "\(list.text)")
            #expect(try await desk.kvs("device", "list", "--fresh").status == 69)
        }
    }

    @Test("a device that was removed is not listed, nor are its pushes")
    func removed() async throws {
        try await withDevices { desk, phone, _, daemon in
            let id = try #require(try await listed(desk)["phone"]?.deviceID)
            try await push(phone, id: id, secondsAgo: 0)
            #expect(try await desk.patiently("device", "remove", "phone").status == 0)
            #expect(try await Array(listed(desk).keys) == ["desk"])
            await stop(daemon)
            #expect(try await Array(listed(desk).keys) == ["desk"])
        }
    }

    @Test("a list that was never received cannot be shown, and a rejected token shows no old one")
    func unlisted() async throws {
        try await withDevices { desk, phone, server, daemon in
            _ = try await listed(phone)
            let removed = try await server.run("kvsd", ["device", "remove", "phone"])
            #expect(removed.status == 0, "\(removed.errors)")
            let rejected = try await phone.patiently("device", "list")
            #expect(rejected.status == 77 && rejected.text == "", "\(rejected.errors)")
            await stop(daemon)
            let directory = desk.path + "/.local/share/ubiquity/replicas"
            for account in try FileManager.default.contentsOfDirectory(atPath: directory) {
                try? FileManager.default.removeItem(atPath: "\(directory)/\(account)/.devices")
            }
            let unknown = try await desk.kvs("device", "list")
            #expect(unknown.status == 69 && unknown.text == "", "\(unknown.errors)")
        }
    }

    @Test("a new name is seen by every device, the daemon, the viewer and the device itself")
    func renamed() async throws {
        try await withDevices { desk, phone, server, daemon in
            let id = try #require(try await listed(desk)["phone"]?.deviceID)
            try await push(phone, id: id, secondsAgo: 0)
            let (watch, watched) = try await watch(phone)
            var (notes, lines) = (watched, watch.output.makeAsyncIterator())
            let name = "Tablet in the küche"
            let renamed = try await desk.patiently("device", "rename", "phone", name)
            #expect(renamed.status == 0, "\(renamed.errors)")
            let onServer = try await server.run("kvsd", ["device", "list"])
            #expect(onServer.text.contains(" \(name) "), "\(onServer.text)")
            let view = try await desk.run("usage-view", ["--timeout", "60"])
            #expect(view.text.contains(name) && !view.text.contains("host"), "\(view.text)")

            #expect(try await phone.patiently("set", "k", "v", "--require-sync").status == 0)
            let file = phone.path + "/.config/ubiquity/credentials.json"
            let credentials = try String(contentsOfFile: file, encoding: .utf8)
            #expect(credentials.contains("\"deviceName\":\"\(name)\""))
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
            #expect(mode as? Int == 0o600)
            let status = try await phone.patiently("status")
            #expect(status.text.contains("\(name) (\(id))"), "\(status.text)")
            #expect(try await listed(phone)[name]?.thisDevice == true)
            // The file has changed, but not the account: what is open stays connected.
            #expect(await lines.next()?.contains(" k") == true)
            watch.interrupt()
            _ = await watch.status()
            #expect(await notes.next() == nil)

            await stop(daemon)
            #expect(try await listed(desk)[name]?.asOf != nil)
        }
    }

    @Test("the first command after a rename has the new name, whatever it asks the daemon")
    func renamedStatus() async throws {
        try await withDevices { desk, phone, _, _ in
            for (index, command) in [["status"], ["sync"], ["device", "list"]].enumerated() {
                let (former, name) = (index == 0 ? "phone" : "name \(index)", "name \(index + 1)")
                let renamed = try await desk.patiently("device", "rename", former, name)
                #expect(renamed.status == 0, "\(renamed.errors)")
                let outcome = try await phone.run("kvs", command + ["--timeout", "120"])
                #expect(outcome.status == 0, "\(outcome.errors)")
                #expect(command == ["sync"] || outcome.text.contains(name), "\(outcome.text)")
                let left = try await phone.kvs("status", "--no-sync")
                #expect(left.text.contains(name), "\(left.text)")
            }
        }
    }
}
