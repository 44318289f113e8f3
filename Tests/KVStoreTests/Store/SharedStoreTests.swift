import Foundation
import Synchronization
import StoreTestSupport
import Testing

import KVStore
@testable import KVStoreEssentials

@Suite("Store shared by instances and threads", .timeLimit(.minutes(5)))
struct SharedStoreTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func open(_ name: String = "replica") throws -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore(configuration: StoreConfiguration(directory: directory.file(name)))
    }

    /// Reads changes until all of `keys` have been notified.
    private func keys(
        _ keys: Set<String>, from changes: AsyncStream<StoreChange>
    ) async -> (notified: Set<String>, reasons: Set<StoreChangeReason>) {
        var notified: Set<String> = []
        var reasons: Set<StoreChangeReason> = []
        for await change in changes {
            notified.formUnion(change.keys)
            reasons.insert(change.reason)
            if notified.isSuperset(of: keys) { break }
        }
        return (notified, reasons)
    }

    @Test("an instance is notified of another's writes with reason 0, and never of its own")
    func twoInstances() async throws {
        let first = try open()
        let second = try open()
        let toFirst = first.changes
        let toSecond = second.changes
        first.set("1", forKey: "a")
        #expect(await keys(["a"], from: toSecond) == (["a"], [.serverChange]))
        #expect(second.string(forKey: "a") == "1")
        second.set("2", forKey: "b")
        #expect(await keys(["b"], from: toFirst) == (["b"], [.serverChange]))
        #expect(first.string(forKey: "b") == "2")
        first.removeObject(forKey: "b")
        first.set("3", forKey: "c")
        #expect(await keys(["b", "c"], from: toSecond).notified == ["b", "c"])
        #expect(second.keys == ["a", "c"])
    }

    @Test("an instance that does not watch has the writes of another after refresh, not before")
    func unwatched() async throws {
        let writer = try open()
        var configuration = StoreConfiguration(directory: directory.file("replica"))
        configuration.isWatched = false
        let reader = try UbiquitousKeyValueStore(configuration: configuration)
        let watching = try open()
        for number in 1...20 {
            let (key, changes) = ("key \(number)", watching.changes)
            writer.set(Int64(number), forKey: key)
            // One that watches has noticed.
            #expect(await keys([key], from: changes).notified == [key])
            #expect(reader.object(forKey: key) == nil)
            try reader.refresh()
            #expect(reader.longLong(forKey: key) == Int64(number))
        }
    }

    @Test("an instance applies the writes of another before its own next write")
    func writeSees() throws {
        let first = try open()
        let second = try open()
        for number in 0..<50 {
            first.set(Int64(number), forKey: "a")
            second.set(Int64(number), forKey: "b")
            #expect(second.longLong(forKey: "a") == Int64(number))
        }
        #expect(try open().longLong(forKey: "b") == 49)
    }

    @Test("a notification has store, reason and keys, and is never posted inside the setter")
    func notification() async throws {
        let store = try open()
        let setting = Mutex<ObjectIdentifier?>(nil)
        let (stream, continuation) = AsyncStream<(Int, [String], Bool)>.makeStream()
        let token = NotificationCenter.default.addObserver(
            forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: store, queue: nil
        ) { note in
            let reason = note.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int
            let keys = note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String]
            let isInside = setting.withLock { $0 } == ObjectIdentifier(Thread.current)
            continuation.yield((reason ?? -1, keys ?? [], isInside))
        }
        defer { NotificationCenter.default.removeObserver(token) }
        func set() {
            setting.withLock { $0 = ObjectIdentifier(Thread.current) }
            store.set(Data(count: 2_000_000), forKey: "large")
            setting.withLock { $0 = nil }
        }
        set()
        #expect(store.data(forKey: "large") == nil)
        for await (reason, keys, isInside) in stream {
            #expect(reason == NSUbiquitousKeyValueStoreQuotaViolationChange)
            #expect(keys == ["large"])
            #expect(!isInside)
            break
        }
    }

    @Test("threads that set, get, remove, synchronize and observe concurrently leave equal stores")
    func hammer() async throws {
        let stores = [try open(), try open()]
        await withTaskGroup(of: Void.self) { watchers in
            for store in stores {
                let changes = store.changes
                watchers.addTask {
                    for await change in changes {
                        for key in change.keys { _ = store.object(forKey: key) }
                    }
                }
            }
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask { work(stores[worker % 2], worker: worker) }
                }
            }
            for store in stores { store.set("1", forKey: "last look") }
            stores[0].set("2", forKey: "last look")
            stores[1].set("3", forKey: "last")
            stores[0].set("4", forKey: "last")
            stores[1].removeObject(forKey: "last look")
            stores[0].removeObject(forKey: "last")
            for store in stores { store.close() }
        }
        let contents = try open().dictionaryRepresentation.mapValues { "\($0)" }
        for worker in 0..<8 { #expect(contents["done \(worker)"] == "\(worker)") }
        #expect(stores[0].dictionaryRepresentation.mapValues { "\($0)" } == contents)
    }

    private func work(_ store: UbiquitousKeyValueStore, worker: Int) {
        for number in 0..<150 {
            let key = "key \(number % 10)"
            switch (number + worker) % 5 {
            case 0: store.removeObject(forKey: key)
            case 1: _ = store.object(forKey: key)
            case 2:
                _ = store.dictionaryRepresentation
                _ = store.status
                if number % 30 == 2 { store.synchronize() }
            default: store.set("\(worker) \(number)", forKey: key)
            }
        }
        store.set(Int64(worker), forKey: "done \(worker)")
    }

    @Test("closing during concurrent writes neither hangs nor loses an accepted write")
    func closeWhileWriting() async throws {
        for round in 0..<10 {
            let name = "replica \(round)"
            let store = try open(name)
            let accepted = AcceptedKeys()
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        for number in 0..<100 {
                            let key = "\(worker) \(number)"
                            guard (try? store.write(.bool(true), forKey: key)) != nil else {
                                return
                            }
                            if accepted.insert(key) == 20 { store.close() }
                        }
                    }
                }
            }
            #expect(Set(try open(name).keys) == accepted.all)
        }
    }
}
