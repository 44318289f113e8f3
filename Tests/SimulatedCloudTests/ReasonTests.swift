import Foundation
import KVStore
import KVStoreTesting
import Synchronization
import Testing

@Suite("Simulated cloud: reasons and accounts", .timeLimit(.minutes(5)))
struct ReasonTests {
    private let cloud = SimulatedCloud(seed: 4)

    @Test("reason 0: another device has set a value; the writer is not notified")
    func serverChange() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(mac.notifications.map(\.reason) == [.serverChange])
        #expect(mac.notifications.map(\.keys) == [["theme"]])
        #expect(phone.notifications.isEmpty)
    }

    @Test("keys that were sent together are one notification, whichever way they arrive")
    func together() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        let tablet = try cloud.device("tablet", .with { $0.isLive = false })
        try await cloud.settle()
        phone.isOffline = true
        let keys = (0..<20).map { "key \($0)" }.sorted()
        for key in keys { phone.store.set(true, forKey: key) }
        await cloud.advance(by: .seconds(60))
        phone.isOffline = false
        try await cloud.settle()
        #expect(mac.notifications.map(\.keys) == [keys])
        _ = try await tablet.store.synchronizeNow()
        try await cloud.settle()
        #expect(tablet.notifications.map(\.keys) == [keys])
    }

    @Test("reason 1: a fresh install downloads the account, and its defaults give way")
    func initialSync() async throws {
        let phone = try cloud.device("phone")
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        let mac = try cloud.device("mac")
        mac.store.set("light", forKey: "theme")
        mac.store.set(12, forKey: "size")
        #expect(!mac.store.status.initialSyncCompleted)
        try await cloud.settle()
        #expect(mac.store.status.initialSyncCompleted)
        #expect(mac.notifications.map(\.reason) == [.initialSyncChange])
        #expect(mac.notifications.map(\.keys) == [["theme"]])
        for device in [phone, mac] {
            #expect(device.store.string(forKey: "theme") == "dark")
            #expect(device.store.longLong(forKey: "size") == 12)
        }
    }

    @Test("reason 2: a write past the quota is dropped and notified")
    func quota() async throws {
        let phone = try cloud.device("phone", .with { $0.limits = StoreLimits(totalByteCount: 100) })
        phone.store.set("short", forKey: "note")
        phone.store.set(String(repeating: "long", count: 100), forKey: "note")
        try await cloud.settle()
        #expect(phone.notifications.map(\.reason) == [.quotaViolationChange])
        #expect(phone.notifications.map(\.keys) == [["note"]])
        #expect(phone.store.string(forKey: "note") == "short")
    }

    @Test("reason 3: another account shows its own values, and mixes nothing")
    func accountChange() async throws {
        let phone = try cloud.device("phone", .with { $0.account = "A" })
        let tablet = try cloud.device("tablet", .with { $0.account = "B" })
        phone.store.set("of A", forKey: "a")
        tablet.store.set("of B", forKey: "b")
        try await cloud.settle()
        #expect(tablet.store.keys == ["b"])
        try phone.changeAccount(to: "B")
        try await cloud.settle()
        #expect(phone.account == "B")
        #expect(phone.notifications.map(\.reason) == [.accountChange, .initialSyncChange])
        #expect(phone.notifications.map(\.keys) == [["a"], ["b"]])
        #expect(phone.store.keys == ["b"])
        #expect(tablet.store.keys == ["b"])
        try phone.changeAccount(to: "A")
        #expect(phone.store.keys == ["a"])
    }

    @Test(
        "reason 3 is posted where no value differs too, and names no keys where that is chosen",
        arguments: [true, false])
    func everyAccountChange(namesKeys: Bool) async throws {
        let phone = try cloud.device(
            "phone",
            .with {
                $0.account = nil
                $0.accountChangeNamesKeys = namesKeys
            })
        let fake = FakeKeyValueStore(account: nil, center: phone.notificationCenter, accountChangeNamesKeys: namesKeys)
        let named = Mutex<[ObjectIdentifier: [[String]?]]>([:])
        let token = phone.notificationCenter.addObserver(
            forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: nil, queue: nil
        ) { note in
            let keys = note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey]
            #expect(note.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int == 3)
            let store = (note.object as? UbiquitousKeyValueStore).map { ObjectIdentifier($0) }
            let fake = (note.object as? FakeKeyValueStore).map { ObjectIdentifier($0) }
            guard let object = store ?? fake else { return }
            named.withLock { $0[object, default: []].append(keys as? [String]) }
        }
        defer { phone.notificationCenter.removeObserver(token) }
        let changes = phone.store.changes
        for account in ["A", "B", nil, "A", "A"] {
            try phone.changeAccount(to: account)
            fake.changeAccount(to: account)
            try await cloud.settle()
        }
        phone.store.set("dark", forKey: "theme")
        fake.set("dark", forKey: "theme")
        try await cloud.settle()
        try phone.changeAccount(to: "B")
        fake.changeAccount(to: "B")
        try await cloud.settle()
        #expect(phone.notifications.map(\.reason) == Array(repeating: .accountChange, count: 5))
        let expected: [[String]?] = [nil, nil, nil, nil, namesKeys ? ["theme"] : nil]
        #expect(named.withLock { $0[ObjectIdentifier(phone.store)] } == expected)
        #expect(named.withLock { $0[ObjectIdentifier(fake)] } == expected)
        // Those that nobody has read are one.
        var reader = changes.makeAsyncIterator()
        let change = await reader.next()
        #expect(change == StoreChange(reason: .accountChange, keys: namesKeys ? ["theme"] : []))
    }

    @Test("joining carries over local values that the account lacks; leaving leaves them there")
    func joiningAndLeaving() async throws {
        let mac = try cloud.device("mac", .with { $0.account = "A" })
        mac.store.set("A's", forKey: "both")
        let phone = try cloud.device("phone", .with { $0.account = nil })
        phone.store.set("local", forKey: "both")
        phone.store.set("local", forKey: "mine")
        try await cloud.settle()
        try phone.changeAccount(to: "A")
        try await cloud.settle()
        #expect(phone.store.string(forKey: "both") == "A's")
        #expect(mac.store.string(forKey: "mine") == "local")
        #expect(phone.notifications.last?.reason == .initialSyncChange)
        try phone.changeAccount(to: nil)
        #expect(phone.store.string(forKey: "both") == "local")
        mac.store.set("later", forKey: "both")
        try await cloud.settle()
        #expect(phone.store.string(forKey: "both") == "local")
    }

    @Test("an app can change the account itself with the configuration of the device")
    func ownChange() async throws {
        let phone = try cloud.device("phone", .with { $0.account = nil })
        let mac = try cloud.device("mac", .with { $0.account = "B" })
        mac.store.set("dark", forKey: "theme")
        try await cloud.settle()
        try phone.store.changeAccount(to: phone.configuration(forAccount: "B"))
        try await cloud.settle()
        #expect(phone.store.string(forKey: "theme") == "dark")
    }

    @Test("the notification's object is the store, and the stream delivers the same changes")
    func channels() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        let objects = Mutex<[ObjectIdentifier]>([])
        let token = NotificationCenter.default.addObserver(
            forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: mac.store, queue: nil
        ) { note in
            guard let store = note.object as? UbiquitousKeyValueStore else { return }
            objects.withLock { $0.append(ObjectIdentifier(store)) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        var changes = mac.store.changes.makeAsyncIterator()
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(objects.withLock { $0 } == [ObjectIdentifier(mac.store)])
        #expect(await changes.next() == StoreChange(reason: .serverChange, keys: ["theme"]))
    }
}
