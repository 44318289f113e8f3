import Foundation
import KVStore
import KVStoreTesting
import Testing

@Suite("Simulated cloud: processes, disks and clocks", .timeLimit(.minutes(5)))
struct LifeTests {
    private let cloud = SimulatedCloud(seed: 5)

    @Test("two processes of a device share its values and notify each other with reason 0")
    func secondProcess() async throws {
        let phone = try cloud.device("phone")
        let widget = try phone.process("widget")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        phone.store.set(3, forKey: "unread")
        try await cloud.settle()
        #expect(widget.store.longLong(forKey: "unread") == 3)
        #expect(widget.notifications.map(\.reason) == [.serverChange])
        #expect(phone.notifications.isEmpty)
        widget.store.set(true, forKey: "opened")
        try await cloud.settle()
        #expect(phone.store.bool(forKey: "opened"))
        #expect(mac.store.bool(forKey: "opened"))
        #expect(phone.store.status.replica == widget.store.status.replica)
    }

    @Test("a restarted app has what it had written", arguments: [CloudDevice.End.quit, .kill])
    func restart(after end: CloudDevice.End) async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        let former = phone.store
        former.set("dark", forKey: "theme")
        try phone.restart(after: end)
        #expect(phone.store !== former)
        #expect(phone.store.string(forKey: "theme") == "dark")
        #expect(throws: StoreError.self) { try former.write(.bool(true), forKey: "late") }
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "dark")
        #expect(mac.store.object(forKey: "late") == nil)
    }

    @Test("who observes the store of an app hears of none that it opens later, however often it is restarted")
    func restartedStores() throws {
        let phone = try cloud.device("phone")
        // A notification center tells objects apart by their addresses.
        var addresses: Set<ObjectIdentifier> = []
        for _ in 0..<50 {
            #expect(addresses.insert(ObjectIdentifier(phone.store)).inserted)
            try phone.restart(after: .kill)
        }
    }

    @Test("a power failure may lose what was not synced, never what was")
    func powerFailure() async throws {
        var losses = 0
        for seed in 1...20 as ClosedRange<UInt64> {
            let cloud = SimulatedCloud(seed: seed)
            let phone = try cloud.device("phone")
            try await cloud.settle()
            phone.store.set("kept", forKey: "synced")
            await cloud.advance(by: .milliseconds(150))
            phone.store.set("gone?", forKey: "fresh")
            try phone.restart(after: .powerFailure)
            #expect(phone.store.string(forKey: "synced") == "kept", "seed \(seed)")
            if phone.store.string(forKey: "fresh") == nil { losses += 1 }
            try await cloud.settle()
        }
        #expect(losses > 0)
    }

    @Test("a reinstalled app is a new replica that downloads everything")
    func reinstall() async throws {
        let phone = try cloud.device("phone")
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        let former = phone.store.status.replica
        try phone.reinstall()
        #expect(phone.store.keys.isEmpty)
        #expect(phone.store.status.replica != former)
        #expect(!phone.store.status.initialSyncCompleted)
        phone.store.set("light", forKey: "theme")
        try await cloud.settle()
        #expect(phone.store.string(forKey: "theme") == "dark")
        #expect(phone.notifications.last?.reason == .initialSyncChange)
    }

    @Test("a cloud that restarts keeps what it acknowledged", arguments: CloudDevice.End.allCases)
    func cloudRestart(after end: CloudDevice.End) async throws {
        let phone = try cloud.device("phone")
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        cloud.restart(after: end)
        phone.store.set(1, forKey: "count")
        try await cloud.settle()
        let mac = try cloud.device("mac")
        try await cloud.settle()
        #expect(mac.store.keys == ["count", "theme"])
    }

    @Test("a stream opened after a restart of the cloud survives its first write")
    func streamAcrossRestart() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        cloud.restart()
        try await cloud.settle()
        phone.store.set("light", forKey: "theme")
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "light")
        #expect(try await mac.store.synchronizeNow() == SyncReport())
    }

    @Test("a cloud restored from a backup gets what the devices have")
    func restore() async throws {
        let phone = try cloud.device("phone")
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        cloud.backUp()
        phone.store.set("light", forKey: "theme")
        phone.store.set(1, forKey: "count")
        try await cloud.settle()
        cloud.restoreBackup()
        try await cloud.settle()
        let mac = try cloud.device("mac")
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "light")
        #expect(mac.store.longLong(forKey: "count") == 1)
    }

    @Test("a device with a wrong clock orders its writes correctly after its first round trip")
    func clocks() async throws {
        let phone = try cloud.device("phone", .with { $0.clockError = .seconds(-86_400) })
        let mac = try cloud.device("mac")
        #expect(phone.now == cloud.now.addingTimeInterval(-86_400))
        try await cloud.settle()
        mac.store.set("first", forKey: "theme")
        try await cloud.settle()
        phone.store.set("second", forKey: "theme")
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "second")
        phone.clockError = .zero
        #expect(phone.now == cloud.now)
    }

    @Test("a store that outlives its cloud keeps working locally")
    func orphan() throws {
        let store = try SimulatedCloud(seed: 1).device("phone").store
        store.set("dark", forKey: "theme")
        #expect(store.string(forKey: "theme") == "dark")
    }
}
