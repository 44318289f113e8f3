import Foundation
import KVStore
import KVStoreTesting
import Synchronization
import Testing

@Suite("Simulated cloud: time and coming to rest", .timeLimit(.minutes(5)))
struct SettlingTests {
    private let cloud = SimulatedCloud(seed: 1)

    @Test("what one device sets another reads after the cloud has settled")
    func twoDevices() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "dark")
    }

    @Test("nothing moves and no time passes unless the test says so")
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

    @Test("time passes as far as it is told, and what is due by then has happened")
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

    @Test(
        "a settled cloud has everything acknowledged and on disk, and settling again does nothing")
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

    @Test("observers have been called when settle returns, and their writes have arrived too")
    func observers() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        let store = mac.store
        let told = Mutex<[String]>([])
        let token = NotificationCenter.default.addObserver(
            forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: store,
            queue: nil
        ) { note in
            let keys = note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String]
            told.withLock { $0 += keys ?? [] }
            store.set(true, forKey: "seen")
        }
        defer { NotificationCenter.default.removeObserver(token) }
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(told.withLock { $0 } == ["theme"])
        #expect(phone.store.bool(forKey: "seen"))
    }

    @Test("an observer on the main queue is called while a test on the main actor settles")
    @MainActor
    func mainQueue() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        let count = Mutex(0)
        let token = NotificationCenter.default.addObserver(
            forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: mac.store,
            queue: .main
        ) { _ in count.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(token) }
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(count.withLock { $0 } == 1)
    }

    @Test("two devices that answer each other for ever are named by the error")
    func pingPong() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        var tokens: [any NSObjectProtocol] = []
        for store in [phone.store, mac.store] {
            tokens.append(
                NotificationCenter.default.addObserver(
                    forName: UbiquitousKeyValueStore.didChangeExternallyNotification,
                    object: store, queue: nil
                ) { _ in store.set(store.longLong(forKey: "echo") + 1, forKey: "echo") })
        }
        defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
        phone.store.set(1, forKey: "echo")
        do throws(CloudError) {
            try await cloud.settle(within: .seconds(20))
            Issue.record("they never rest")
        } catch {
            guard case .stillMoving(_, let what) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(what.contains { $0.contains("echo") || $0.contains("phone") }, "\(error)")
        }
    }

    @Test("a device that is offline is at rest with what it has to send")
    func offlineRests() async throws {
        let phone = try cloud.device("phone")
        try await cloud.settle()
        phone.isOffline = true
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(phone.store.status.pendingKeyCount == 1)
    }

    @Test("settling names what is held, after everything else has come to rest")
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
