import Foundation
import KVStore
import KVStoreTesting
import Synchronization
import Testing

// The snippets of the pages "Port an app from NSUbiquitousKeyValueStore" and "Test your sync code".
// `DocumentationSnippetsTests` compares them.

private final class Appearance {
    private let store: any KeyValueStoring

    init(store: any KeyValueStoring) { self.store = store }

    var theme: String {
        get { store.string(forKey: "theme") ?? "light" }
        set { store.set(newValue, forKey: "theme") }
    }
}

@Suite("Snippets: Port an app from NSUbiquitousKeyValueStore", .timeLimit(.minutes(5)))
struct PortAnAppSnippets {
    private let cloud = SimulatedCloud(seed: 1)

    /// The only test of this target that opens the default store, which a process does once.
    @Test("the calls stay as they are once a configuration names directory and store")
    func calls() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "ubiquity-snippets-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        setenv("UBIQUITY_DATA_DIR", folder, 1)
        UbiquitousKeyValueStore.setDefaultConfiguration(
            StoreConfiguration(
                directory: StoreDirectories.replica(account: nil, storeName: "com.example.app"),
                storeName: "com.example.app"))

        let store = NSUbiquitousKeyValueStore.default
        store.set("dark", forKey: "theme")
        let theme = store.string(forKey: "theme")
        store.set(true, forKey: "sound")
        store.set(["b": 2, "a": 1], forKey: "counts")
        let counts = store.dictionary(forKey: "counts") as? [String: Int]
        let size = store.double(forKey: "size")  // 0 for a missing key
        store.removeObject(forKey: "draft")
        #expect(theme == "dark" && counts == ["a": 1, "b": 2])
        #expect(size == 0)
        #expect(Appearance(store: store).theme == "dark")
    }

    @Test("the notification names keys and reason")
    func observing() async throws {
        let phone = try cloud.device("phone")
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        let store = try cloud.device("mac").store
        let reloaded = Mutex<[String]>([])
        @Sendable func reload(_ keys: [String], isFirstDownload: Bool) {
            if isFirstDownload { reloaded.withLock { $0 += keys } }
        }
        let token = NotificationCenter.default.addObserver(
            forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: store, queue: nil
        ) { note in
            let keys = note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String]
            let reason = note.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int
            reload(keys ?? [], isFirstDownload: reason == NSUbiquitousKeyValueStoreInitialSyncChange)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try await cloud.settle()
        #expect(reloaded.withLock { $0 } == ["theme"])
    }

    @Test("notifications can be read on an actor") @MainActor func notifications() async throws {
        let phone = try cloud.device("phone")
        let store = try cloud.device("mac").store
        try await cloud.settle()
        var reloaded: [String] = []
        let (started, starting) = AsyncStream.makeStream(of: Void.self)
        let reader = Task {
            func reload(_ keys: [String]) {
                reloaded += keys
                withUnsafeCurrentTask { $0?.cancel() }
            }
            starting.finish()
            let name = NSUbiquitousKeyValueStore.didChangeExternallyNotification
            for await note in NotificationCenter.default.notifications(named: name, object: store) {
                reload(note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String] ?? [])
            }
        }
        for await _ in started {}
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        await reader.value
        #expect(reloaded == ["theme"])
    }

    @Test("a mock by subclass, and a simulated default store")
    func testing() async throws {
        final class MockStore: NSUbiquitousKeyValueStore, @unchecked Sendable {
            var values: [String: Any] = [:]
            override func object(forKey aKey: String) -> Any? { values[aKey] }
            override func set(_ anObject: Any?, forKey aKey: String) { values[aKey] = anObject }
            override func removeObject(forKey aKey: String) { values[aKey] = nil }
            override var dictionaryRepresentation: [String: Any] { values }
            override func synchronize() -> Bool { true }
        }
        let mock = MockStore()
        mock.set(5 as Any?, forKey: "count")
        #expect(mock.value(forKey: "count") as? Int == 5)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.withDefault(phone) {
            NSUbiquitousKeyValueStore.default.set("dark", forKey: "theme")
            try await cloud.settle()
        }
        #expect(mac.store.string(forKey: "theme") == "dark")
    }

    @Test("another account arrives with reason 3 and then with its download")
    func otherAccount() async throws {
        let mac = try cloud.device("mac", .with { $0.account = "family" })
        mac.store.set("dark", forKey: "theme")
        let phone = try cloud.device("phone")
        phone.store.set("sepia", forKey: "theme")
        try await cloud.settle()
        var (undone, reloaded): (Int, [[String]]) = (0, [])
        func forgetUndo() { undone += 1 }
        func reload(_ keys: [String]) { reloaded.append(keys) }
        func reloadAll() { reloaded.append([]) }

        func changed(_ keys: [String], reason: Int) {
            if reason == NSUbiquitousKeyValueStoreAccountChange { forgetUndo() }
            if keys.isEmpty { reloadAll() } else { reload(keys) }  // for every reason
        }
        try phone.changeAccount(to: "family")
        #expect(phone.store.string(forKey: "theme") == nil)
        try await cloud.settle()
        for note in phone.notifications { changed(note.keys, reason: note.reason.rawValue) }
        #expect(phone.notifications.map(\.reason) == [.accountChange, .initialSyncChange])
        #expect(undone == 1 && reloaded == [["theme"], ["theme"]])
        mac.store.set("light", forKey: "theme")
        try phone.changeAccount(to: nil)
        try await cloud.settle()
        try phone.changeAccount(to: "family")
        try await cloud.settle()
        #expect(phone.notifications.suffix(2).map(\.reason) == [.accountChange, .serverChange])
    }

    @Test("a list under one key loses an element, and one with a key for each does not")
    func lists() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        for device in [phone, mac] { device.isOffline = true }
        for device in [phone, mac] {
            let store = device.store
            var items = store.array(forKey: "items") as? [String] ?? []
            items.append("milk")
            store.set(items, forKey: "items")  // drops what another device has added meanwhile
            store.set(items + [device.name], forKey: "items")
            store.set("milk", forKey: "item.\(UUID())")
            let all = store.dictionaryRepresentation.filter { $0.key.hasPrefix("item.") }
            #expect(all.count == 1)
        }
        for device in [phone, mac] { device.isOffline = false }
        try await cloud.settle()
        // One list of two elements instead of four, and both elements with a key of their own.
        #expect(phone.store.array(forKey: "items")?.count == 2)
        #expect(phone.store.dictionaryRepresentation.count == 3)
    }

    @Test("the stream delivers changes until the store is closed")
    func stream() async throws {
        let phone = try cloud.device("phone")
        let store = try cloud.device("mac").store
        try await cloud.settle()
        let reloaded = Mutex<[String]>([])
        @Sendable func reload(_ keys: [String], isFirstDownload: Bool) {
            if !isFirstDownload { reloaded.withLock { $0 += keys } }
        }
        let listener = Task {
            for await change in store.changes {
                reload(change.keys, isFirstDownload: change.reason == .initialSyncChange)
            }
        }
        // The stream starts when the task does.
        var count: Int64 = 0
        while reloaded.withLock(\.isEmpty) {
            count += 1
            phone.store.set(count, forKey: "count")
            try await cloud.settle()
            await Task.yield()
        }
        store.close()
        await listener.value
        #expect(Set(reloaded.withLock { $0 }) == ["count"])
    }

    @Test("a migration waits for the first download")
    func firstDownload() async throws {
        let store = try cloud.device("phone").store
        func migrate() {
            let status = store.status
            // A store without an account has nothing to wait for. Once it joins one, reason 1 follows.
            guard status.connection == .local || status.initialSyncCompleted else { return }
            if let old = store.string(forKey: "colours") {
                store.set(old, forKey: "theme")
                store.removeObject(forKey: "colours")
            }
        }
        store.set("sepia", forKey: "colours")
        migrate()
        #expect(store.keys == ["colours"])
        try await cloud.settle()
        migrate()
        #expect(store.keys == ["theme"])
    }

    @Test("write throws past the quota")
    func quota() throws {
        let store = try cloud.device("phone").store
        let text = String(repeating: "n", count: 2_000_000)
        var kept: String?
        func keepOnThisDevice(_ text: String) { kept = text }
        func save() throws {
            do {
                try store.write(.string(text), forKey: "note")
            } catch {
                switch error.code {
                case .quotaExceeded, .tooManyKeys: keepOnThisDevice(text)
                default: throw error
                }
            }
        }
        try save()
        #expect(kept == text)
    }

    @Test("synchronizeNow waits for a round trip")
    func roundTrip() async throws {
        let store = try cloud.device("phone").store
        store.set("dark", forKey: "theme")
        let report = try await store.synchronizeNow()
        print("sent \(report.sentKeyCount), received \(report.receivedKeyCount)")
        #expect(report == SyncReport(sentKeyCount: 1))
    }
}

@Suite("Snippets: Test your sync code", .timeLimit(.minutes(5)))
struct TestYourSyncCodeSnippets {
    @Test("two devices, a conflict and why a value won")
    func conflict() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")

        Appearance(store: phone.store).theme = "dark"
        try await cloud.settle()
        #expect(Appearance(store: mac.store).theme == "dark")

        phone.isOffline = true
        phone.store.set("sepia", forKey: "theme")
        await cloud.advance(by: .seconds(60))
        mac.store.set("light", forKey: "theme")
        phone.isOffline = false
        try await cloud.settle()
        #expect(phone.store.string(forKey: "theme") == "light")

        let decision = try #require(cloud.decisions.last { $0.place == .cloud })
        #expect(decision.winner == .present)
        #expect(decision.incoming?.writer == "phone")
        print(decision)
    }

    @Test("a fresh install")
    func freshInstall() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let phone = try cloud.device("phone")
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()

        try phone.reinstall()
        phone.store.set("light", forKey: "theme")  // a default
        try await cloud.settle()
        #expect(phone.store.string(forKey: "theme") == "dark")
        #expect(phone.notifications.last?.reason == .initialSyncChange)
    }

    @Test("a quota violation")
    func quota() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let phone = try cloud.device("phone", .with { $0.limits = StoreLimits(totalByteCount: 1_000) })
        phone.store.set(String(repeating: "n", count: 2_000), forKey: "note")
        try await cloud.settle()
        #expect(phone.notifications.map(\.reason) == [.quotaViolationChange])
    }

    @Test("bad networks, bad clocks, bad luck", arguments: 1...UInt64(10))
    func badLuck(seed: UInt64) async throws {
        let cloud = SimulatedCloud(seed: seed)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")

        mac.hold()  // nothing arrives until release()
        phone.dropNext(1, .answer)  // the cloud has the change, the phone does not know
        phone.duplicateNext()
        phone.isReordering = true
        phone.delay = .seconds(2)
        phone.throttle = .observedOfApple  // 15 requests in 90 s
        phone.failNextRequest(with: .unauthorized("the token was revoked"))
        phone.clockError = .seconds(-3_600)
        phone.store.set("dark", forKey: "theme")
        try phone.restart(after: .kill)
        await cloud.advance(by: .seconds(300))
        mac.release()
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "dark", "seed \(seed)")
    }
}
