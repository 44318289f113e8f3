import Dispatch
import Foundation
import KVStore
import Synchronization
import StoreTestSupport
import Testing

/// What code written for Apple's class does besides getting and setting values.
@Suite("The interface of Apple's class", .timeLimit(.minutes(5)))
struct AppleInterfaceTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func open(_ limits: StoreLimits = StoreLimits()) throws -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: directory.file("replica"), limits: limits))
    }

    @Test("a store equals itself only, can be a dictionary's key, and describes itself")
    func identity() throws {
        let store = try open()
        let other = try open()
        #expect(store == store && store != other)
        #expect(store.isEqual(store) && !store.isEqual(other) && !store.isEqual("text"))
        #expect(store.hash == store.hash)
        #expect([store: 1, other: 2][other] == 2)
        #expect(store.description.contains("UbiquitousKeyValueStore"))
        #expect("\(store)" != "\(other)")
        #expect(store.debugDescription == store.description)
        #expect(NSUbiquitousKeyValueStore.default === UbiquitousKeyValueStore.default)
    }

    @Test("values can be read and written by key-value coding")
    func keyValueCoding() throws {
        let store = try open()
        store.setValue(5, forKey: "count")
        store.setValue("dark", forKey: "theme")
        #expect(store.value(forKey: "count") as? Int == 5)
        #expect(store.value(forKey: "theme") as? String == "dark")
        #expect(store.longLong(forKey: "count") == 5)
        store.setValue(nil, forKey: "count")
        #expect(store.value(forKey: "count") == nil)
    }

    /// As apps write one: the typed members are the class's own.
    private final class MockStore: NSUbiquitousKeyValueStore, @unchecked Sendable {
        var values: [String: Any] = [:]
        var synchronizations = 0

        override func object(forKey aKey: String) -> Any? { values[aKey] }
        override func set(_ anObject: Any?, forKey aKey: String) { values[aKey] = anObject }
        override func removeObject(forKey aKey: String) { values[aKey] = nil }
        override var dictionaryRepresentation: [String: Any] { values }
        override func synchronize() -> Bool {
            synchronizations += 1
            return false
        }
    }

    @Test("a mock that overrides the members for objects replaces the store and opens none")
    func mock() async throws {
        await #expect(processExitsWith: .success) { [directory = directory.path as String] in
            UbiquitousKeyValueStore.setDefaultConfiguration(StoreConfiguration(directory: directory + "/never"))
            let mock = MockStore()
            let store: NSUbiquitousKeyValueStore = mock
            store.set("dark", forKey: "theme")
            store.set(true, forKey: "sound")
            store.set(Int64(5), forKey: "count")
            store.set(2.5, forKey: "size")
            store.set(Data([1]), forKey: "data")
            store.set([1, 2], forKey: "array")
            store.set(["a": 1], forKey: "dictionary")
            #expect(Set(mock.values.keys).count == 7)
            #expect(store.string(forKey: "theme") == "dark" && store.bool(forKey: "sound"))
            #expect(store.longLong(forKey: "count") == 5 && store.double(forKey: "size") == 2.5)
            #expect(store.data(forKey: "data") == Data([1]))
            #expect(store.array(forKey: "array") as? [Int] == [1, 2])
            #expect(store.dictionary(forKey: "dictionary") as? [String: Int] == ["a": 1])
            #expect(store.value(forKey: "theme") as? String == "dark")
            store.set(nil as String?, forKey: "theme")
            store.removeObject(forKey: "sound")
            #expect(mock.values.count == 5 && store.dictionaryRepresentation.count == 5)
            #expect(!store.synchronize() && mock.synchronizations == 1)
            #expect(!FileManager.default.fileExists(atPath: directory + "/never"))
        }
    }

    @Test("integers are set under a key in a variable, as literals too")
    func integers() throws {
        let store = try open()
        let key = "count"
        store.set(0, forKey: key)
        #expect(store.object(forKey: key) as? Int == 0)
        store.set(-1, forKey: [key][0])
        #expect(store.longLong(forKey: key) == -1)
        (store as any KeyValueStoring).set(60 * 60, forKey: key)
        #expect(store.object(forKey: key) as? Int == 3_600)
        store.set(key.count, forKey: key)
        #expect(store.object(forKey: key) as? Int == 5)
        store.set(key.isEmpty ? 1 : 2, forKey: key)
        #expect(store.string(forKey: key) == "2")
        let mock = MockStore()
        mock.set(7, forKey: key)
        #expect(mock.longLong(forKey: key) == 7)
    }

    @Test("an app's own members are preferred to additions of the same names")
    func extensions() throws {
        let store = try open()
        store.flush()
        store.refresh()
        store.write(nil, forKey: "k")
        #expect(store.record(forKey: "k") == "own")
        try store.encode(["a": 1], forKey: "k")
        #expect(try store.decode([String: Int].self, forKey: "k") == ["from": 1])
    }

    @Test("every object made by init() is the default store, and each one is notified for")
    func defaultObjects() async {
        await #expect(processExitsWith: .success) { [directory = directory.path as String] in
            UbiquitousKeyValueStore.setDefaultConfiguration(
                StoreConfiguration(directory: directory + "/default", limits: StoreLimits(totalByteCount: 10)))
            let first = NSUbiquitousKeyValueStore()
            first.set("dark", forKey: "theme")
            let second = UbiquitousKeyValueStore()
            let heard = DispatchSemaphore(value: 0)
            for object in [first, second, .default] {
                _ = NotificationCenter.default.addObserver(
                    forName: NSUbiquitousKeyValueStoreDidChangeExternallyNotification, object: object, queue: nil
                ) { _ in heard.signal() }
            }
            second.set("much too long a value", forKey: "note")
            for _ in 0..<3 { heard.wait() }
            let theme = NSUbiquitousKeyValueStore.default.string(forKey: "theme")
            exit(second.string(forKey: "theme") == "dark" && theme == "dark" ? 0 : 1)
        }
    }

    @Test("a default store that nobody has configured says where it is")
    func unconfigured() async throws {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [directory = directory.path as String] in
            setenv("UBIQUITY_DATA_DIR", directory, 1)
            NSUbiquitousKeyValueStore.default.set("dark", forKey: "theme")
            NSUbiquitousKeyValueStore.default.set("light", forKey: "theme")
        }
        let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(message.contains("\(directory.path)/replicas/local/default, as that of every program"))
        #expect(message.components(separatedBy: "setDefaultConfiguration").count == 2)
    }

    @Test("configuring the default store after its first use stops the program with the reason")
    func lateConfiguration() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [directory = directory.path as String] in
            let configuration = StoreConfiguration(directory: directory + "/default")
            UbiquitousKeyValueStore.setDefaultConfiguration(configuration)
            UbiquitousKeyValueStore.setDefaultConfiguration(configuration)
            UbiquitousKeyValueStore.default.set(1, forKey: "a")
            UbiquitousKeyValueStore.setDefaultConfiguration(configuration)
        }
        let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(message.contains("setDefaultConfiguration(_:) was called after"))
    }

    @Test("a closed store is not synchronized")
    func closed() throws {
        let store = try open()
        #expect(store.synchronize())
        store.close()
        #expect(!store.synchronize())
    }

    @Test("an observer on a busy queue delays neither streams nor other stores' observers")
    func busyObserver() async throws {
        let store = try open(StoreLimits(totalByteCount: 10))
        let other = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(
                directory: directory.file("other"), limits: StoreLimits(totalByteCount: 10)))
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let busy = DispatchSemaphore(value: 0)
        queue.addOperation { busy.wait() }
        let name = UbiquitousKeyValueStore.didChangeExternallyNotification
        let calls = Mutex(0)
        let token = NotificationCenter.default.addObserver(
            forName: name, object: store, queue: queue
        ) { _ in calls.withLock { $0 += 1 } }
        var changes = store.changes.makeAsyncIterator()
        var states = store.connectionChanges.makeAsyncIterator()
        var notes = NotificationCenter.default.notifications(named: name, object: other).makeAsyncIterator()
        for count in 1...1_000 {
            store.set("much too long a value \(count)", forKey: "note")
        }
        #expect(await changes.next()?.keys == ["note"])
        #expect(await states.next() == .local)
        other.set("much too long a value", forKey: "other")
        let note = await notes.next()
        #expect(note?.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String] == ["other"])
        busy.signal()
        await store.drainDeliveries()
        // Those that waited were merged.
        #expect((1...300).contains(calls.withLock { $0 }))
        NotificationCenter.default.removeObserver(token)
    }

    @Test("notifications can be read with for await, on an actor and off it") @MainActor func sequence() async throws {
        let store = try open(StoreLimits(totalByteCount: 10))
        let name = NSUbiquitousKeyValueStore.didChangeExternallyNotification
        let notes = NotificationCenter.default.notifications(named: name, object: store)
        let reader = Task.detached {
            for await note in notes {
                return note.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int
            }
            return nil
        }
        let onMain = NotificationCenter.default.notifications(named: name, object: store)
        store.set("much too long a value", forKey: "note")
        for await note in onMain {
            #expect(note.object as? UbiquitousKeyValueStore == store)
            #expect(note.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? NSNumber == 2)
            break
        }
        #expect(await reader.value == NSUbiquitousKeyValueStoreQuotaViolationChange)
        let cancelled = Task { for await _ in notes {} }
        cancelled.cancel()
        await cancelled.value
    }

    @Test("what a check of count <= 1,048,576 allows is stored")
    func sizes() throws {
        let store = try open()
        store.set(Data(count: 1_048_576), forKey: "data")
        #expect(store.data(forKey: "data")?.count == 1_048_576)
        #expect(store.status.usedByteCount == 1_048_576)
        store.set("", forKey: "empty")
        store.set("a", forKey: "more")
        #expect(store.string(forKey: "empty") == "" && store.string(forKey: "more") == nil)
        store.removeObject(forKey: "data")
        let text = String(repeating: "中文", count: 174_762)
        store.set(text, forKey: "text")
        #expect(store.string(forKey: "text") == text && text.utf8.count == 1_048_572)
    }
}

extension NSUbiquitousKeyValueStore {
    fileprivate func flush() {}
    fileprivate func refresh() {}
    fileprivate func write(_ value: Any?, forKey key: String) {}
    fileprivate func record(forKey key: String) -> String? { "own" }

    fileprivate func decode<Value: Decodable>(_ type: Value.Type, forKey key: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data("{\"from\": 1}".utf8))
    }
}
