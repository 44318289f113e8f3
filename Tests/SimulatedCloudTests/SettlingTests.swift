import Foundation
import KVStore
import KVStoreTesting
import Synchronization
import Testing

@Suite("Simulated cloud: time and settling", .timeLimit(.minutes(5)))
struct SettlingTests {
    private let cloud = SimulatedCloud(seed: 1)

    @Test("a value set on one device is readable on another after settle")
    func twoDevices() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "dark")
    }

    @Test("nothing happens and no time passes unless the test asks for it")
    func standsStill() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        let before = cloud.now
        phone.store.set("dark", forKey: "theme")
        phone.store.synchronize()
        #expect(cloud.now == before)
        #expect(mac.store.string(forKey: "theme") == nil)
        await cloud.advance(by: .milliseconds(1))
        #expect((0.0005...0.0015).contains(cloud.now.timeIntervalSince(before)))
        #expect(mac.store.string(forKey: "theme") == nil)
    }

    @Test("advance passes exactly the given time, and everything due by then has happened")
    func advancing() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        let before = cloud.now
        phone.delay = .seconds(5)
        phone.store.set("dark", forKey: "theme")
        await cloud.advance(by: .seconds(4))
        #expect(mac.store.string(forKey: "theme") == nil)
        await cloud.advance(by: .seconds(20))
        #expect(mac.store.string(forKey: "theme") == "dark")
        #expect(cloud.now == before.addingTimeInterval(24))
    }

    @Test("a settled cloud has everything acknowledged and durable, and settling again does nothing")
    func rest() async throws {
        let phone = try cloud.device("phone")
        for number in 0..<30 { phone.store.set(Int64(number), forKey: "key \(number)") }
        try await cloud.settle()
        #expect(phone.store.status.pendingKeyCount == 0)
        #expect(phone.store.status.connection == .connected)
        let (time, trace) = (cloud.now, cloud.trace)
        try await cloud.settle()
        #expect(cloud.now == time)
        #expect(cloud.trace == trace)
    }

    @Test("settle returns after observers have been called and their writes have arrived")
    func observers() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        let store = mac.store
        let delivered = Mutex<[String]>([])
        let token = NotificationCenter.default.addObserver(
            forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: store, queue: nil
        ) { note in
            let keys = note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String]
            delivered.withLock { $0 += keys ?? [] }
            store.set(true, forKey: "seen")
        }
        defer { NotificationCenter.default.removeObserver(token) }
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(delivered.withLock { $0 } == ["theme"])
        #expect(phone.store.bool(forKey: "seen"))
    }

    @Test("an observer on the main queue is called during settle on the main actor")
    @MainActor
    func mainQueue() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        let count = Mutex(0)
        let token = NotificationCenter.default.addObserver(
            forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: mac.store, queue: .main
        ) { _ in count.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(token) }
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(count.withLock { $0 } == 1)
    }

    /// As view models do: the task that reads begins after `init` has returned.
    @MainActor
    private final class Reader {
        private(set) var keys: [String] = []
        private var reading: Task<Void, Never>?

        init(changesOf store: UbiquitousKeyValueStore) {
            reading = Task { for await change in store.changes { keys += change.keys } }
        }

        init(notificationsOf store: UbiquitousKeyValueStore) {
            let name = UbiquitousKeyValueStore.didChangeExternallyNotification
            reading = Task {
                for await note in NotificationCenter.default.notifications(named: name, object: store) {
                    keys += note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String] ?? []
                }
            }
        }

        deinit { reading?.cancel() }
    }

    @Test("tasks that the main actor was given before settle miss nothing", arguments: 1...50)
    @MainActor
    func readersThatBegin(seed: UInt64) async throws {
        let cloud = SimulatedCloud(seed: seed)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        let changes = Reader(changesOf: phone.store)
        let notes = Reader(notificationsOf: phone.store)
        mac.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(changes.keys == ["theme"])
        while notes.keys.isEmpty { await Task.yield() }
        #expect(notes.keys == ["theme"])
    }

    @Test("a main thread that is blocked keeps no cloud from settling")
    func blockedMainThread() async throws {
        let phone = try cloud.device("phone")
        phone.store.set("dark", forKey: "theme")
        let (isBlocked, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        DispatchQueue.main.async {
            isBlocked.signal()
            goesOn.wait()
        }
        await Task.detached { isBlocked.wait() }.value
        try await cloud.settle()
        goesOn.signal()
        #expect(phone.store.status.pendingKeyCount == 0)
    }

    @Test("an offline device settles with its pending keys")
    func offlineRests() async throws {
        let phone = try cloud.device("phone")
        try await cloud.settle()
        phone.isOffline = true
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(phone.store.status.pendingKeyCount == 1)
    }

    @Test("the error of settle names held messages, after everything else has settled")
    func heldIsNamed() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        let watch = try cloud.device("watch")
        try await cloud.settle()
        mac.hold()
        phone.store.set("dark", forKey: "theme")
        let error = await #expect(throws: CloudError.self) { try await cloud.settle() }
        #expect(error == .held(what: ["a change for mac of key theme"]))
        #expect(try #require(error).description.contains("release()"))
        #expect(watch.store.string(forKey: "theme") == "dark")
        #expect(mac.store.string(forKey: "theme") == nil)
        mac.release()
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "dark")
    }
}
