import Foundation
import KVStoreCore
import StoreTestSupport
import Testing

@testable import KVStoreEssentials

@Suite("Store")
struct StoreTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func open() throws -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore(configuration: StoreConfiguration(directory: directory.file("replica")))
    }

    @Test("tasks that iterate one stream of changes divide them, and all of them end with it")
    func sharedFeed() async {
        let feed = ChangeFeed()
        let count = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var count = 0
                    while let change = await feed.next() { count += change.keys.count }
                    return count
                }
            }
            for number in 0..<100 {
                feed.send(StoreChange(reason: .serverChange, keys: ["key \(number)"]))
                await Task.yield()
            }
            while !feed.isRead { await Task.yield() }
            feed.finish()
            return await group.reduce(0, +)
        }
        #expect(count == 100)
    }

    @Test("getters return for a missing key what Apple's class returns")
    func missing() throws {
        let store = try open()
        #expect(store.object(forKey: "a") == nil)
        #expect(store.string(forKey: "a") == nil)
        #expect(store.array(forKey: "a") == nil)
        #expect(store.dictionary(forKey: "a") == nil)
        #expect(store.data(forKey: "a") == nil)
        #expect(store.longLong(forKey: "a") == 0)
        #expect(store.double(forKey: "a") == 0)
        #expect(store.bool(forKey: "a") == false)
        #expect(store.dictionaryRepresentation.isEmpty)
        #expect(store.synchronize())
    }

    @Test("a value that was set is returned by its getter and by object, also after reopening")
    func setAndGet() throws {
        do {
            let store = try open()
            store.set("text", forKey: "string")
            store.set(Data([1, 2]), forKey: "data")
            store.set([1, "a", true] as [Any], forKey: "array")
            store.set(["k": 2.5] as [String: Any], forKey: "dictionary")
            store.set(Int64.min, forKey: "longLong")
            store.set(-0.5, forKey: "double")
            store.set(true, forKey: "bool")
            store.set(Date(timeIntervalSinceReferenceDate: 9) as Any?, forKey: "date")
            store.set(7 as Any?, forKey: "any")
        }
        let store = try open()
        #expect(store.string(forKey: "string") == "text")
        #expect(store.data(forKey: "data") == Data([1, 2]))
        let array = try #require(store.array(forKey: "array"))
        #expect(array[0] as? Int64 == 1)
        #expect(array[1] as? String == "a")
        #expect(array[2] as? Bool == true)
        #expect(store.dictionary(forKey: "dictionary")?["k"] as? Double == 2.5)
        #expect(store.longLong(forKey: "longLong") == .min)
        #expect(store.double(forKey: "double") == -0.5)
        #expect(store.bool(forKey: "bool"))
        #expect(store.object(forKey: "date") as? Date == Date(timeIntervalSinceReferenceDate: 9))
        #expect(store.object(forKey: "any") as? Int64 == 7)
        #expect(store.dictionaryRepresentation.count == 9)
        #expect(store.keys == ["any", "array", "bool", "data", "date", "dictionary", "double", "longLong", "string"])
    }

    @Test("canonically equivalent keys are two keys, also after reopening")
    func canonicalKeys() throws {
        let (one, two) = ("caf\u{E9}", "cafe\u{301}")
        func expectBoth(_ store: UbiquitousKeyValueStore) {
            #expect(store.string(forKey: one) == "first")
            #expect(store.string(forKey: two) == "second")
            #expect(store.keys.map { Array($0.utf8) } == [two, one].map { Array($0.utf8) })
        }
        do {
            let store = try open()
            store.set("first", forKey: one)
            store.set("second", forKey: two)
            expectBoth(store)
            store.close()
        }
        let store = try open()
        expectBoth(store)
        store.removeObject(forKey: one)
        #expect(store.object(forKey: one) == nil)
        #expect(store.keys.map { Array($0.utf8) } == [Array(two.utf8)])
    }

    @Test("every setter removes with nil, as removeObject does")
    func removing() throws {
        let store = try open()
        func fill() { store.set("x", forKey: "a") }
        let removals: [() -> Void] = [
            { store.removeObject(forKey: "a") }, { store.set(nil as String?, forKey: "a") },
            { store.set(nil as Data?, forKey: "a") }, { store.set(nil as [Any]?, forKey: "a") },
            { store.set(nil as [String: Any]?, forKey: "a") }, { store.set(nil as Any?, forKey: "a") },
        ]
        for remove in removals {
            fill()
            #expect(store.string(forKey: "a") == "x")
            remove()
            #expect(store.object(forKey: "a") == nil)
            #expect(store.keys.isEmpty)
        }
    }

    @Test("the setter ignores what is not a property list, and the old value stays")
    func notAPropertyList() throws {
        let store = try open()
        store.set("old", forKey: "a")
        store.set(URL(filePath: "/") as Any?, forKey: "a")
        store.set([Date(timeIntervalSinceReferenceDate: .nan)] as [Any]?, forKey: "a")
        #expect(store.string(forKey: "a") == "old")
    }

    @Test("write throws the reason, and everything that it accepts can be read")
    func throwingWriter() throws {
        let store = try open()
        func code(_ value: PropertyListValue?, _ key: String) -> StoreError.Code? {
            do throws(StoreError) {
                try store.write(value, forKey: key)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(.bool(true), "") == .invalidKey)
        #expect(code(.bool(true), String(repeating: "k", count: 129)) == .invalidKey)
        #expect(code(.data(Data(count: 1_048_577)), "a") == .quotaExceeded)
        #expect(code(.date(Date(timeIntervalSinceReferenceDate: .nan)), "a") == .invalidValue)
        var deep = PropertyListValue.bool(true)
        for _ in 0..<128 { deep = .array([deep]) }
        #expect(code(deep, "a") == nil)
        #expect(store.propertyList(forKey: "a") == deep)
        #expect(code(.array([deep]), "b") == .invalidValue)
        #expect(code(.dictionary(["k": deep]), "b") == .invalidValue)
        let same = PropertyListValue.array(
            Array(repeating: .string(String(repeating: "text", count: 1_000)), count: 1_000))
        #expect(code(same, "c") == nil)
        #expect(store.propertyList(forKey: "c") == same)
        #expect(store.keys == ["a", "c"])
    }

    @Test("a value has at most 1,048,576 bytes, and a text that takes more encoded is refused")
    func size() throws {
        let store = try open()
        let ascii = String(repeating: "a", count: 1_048_576)
        try store.write(.string(ascii), forKey: "a")
        #expect(store.status.usedByteCount == 1_048_576)
        #expect(throws: StoreError.self) { try store.write(.string(ascii + "a"), forKey: "a") }
        // With a letter beyond ASCII, each takes two bytes.
        let error = #expect(throws: StoreError.self) {
            try store.write(.string("é" + ascii.dropLast(2)), forKey: "a")
        }
        #expect(error?.reason.contains("bytes encoded") == true)
        #expect(store.string(forKey: "a") == ascii)
    }

    @Test("a device with Apple's key length can remove a longer key that it has received")
    func longKey() throws {
        let long = String(repeating: "k", count: 100)
        let peer = try open()
        peer.set("1", forKey: long)
        peer.close()
        let store = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(
                directory: directory.file("replica"), limits: StoreLimits(keyProfile: .classic)))
        #expect(store.string(forKey: long) == "1")
        #expect(throws: StoreError.self) { try store.write(.string("2"), forKey: long) }
        store.removeObject(forKey: long)
        store.removeObject(forKey: long)
        #expect(store.keys.isEmpty)
    }

    @Test("Codable values round-trip; another type is an error, a missing key nil")
    func codable() throws {
        struct Window: Codable, Equatable {
            var width: Int
            var title: String?
            var flags: [Bool]
        }
        let store = try open()
        let window = Window(width: -3, title: "ä", flags: [true, false])
        try store.encode(window, forKey: "window")
        #expect(try store.decode(Window.self, forKey: "window") == window)
        #expect(try store.decode(Window.self, forKey: "nothing") == nil)
        try store.encode(42, forKey: "number")
        #expect(try store.decode(Int.self, forKey: "number") == 42)
        #expect(store.longLong(forKey: "number") == 42)
        #expect(throws: StoreError.self) { try store.decode(Window.self, forKey: "number") }
    }

    @Test("a closed store reads from memory, refuses writes and can be closed again")
    func closed() async throws {
        let store = try open()
        store.set("x", forKey: "a")
        let changes = store.changes
        store.close()
        store.close()
        #expect(store.string(forKey: "a") == "x")
        do throws(StoreError) {
            try store.write(.bool(true), forKey: "b")
            Issue.record("it is closed")
        } catch {
            #expect(error.code == .closed)
        }
        for await _ in changes { Issue.record("nothing changed") }
        for await _ in store.changes { Issue.record("nothing changed") }
        #expect(try open().string(forKey: "a") == "x")
    }

    @Test("an invalid store name and a directory that cannot be created are errors")
    func refusedConfigurations() throws {
        for name in ["", ".x", "a/b", "ä", String(repeating: "n", count: 129)] {
            #expect(throws: StoreError.self) {
                try UbiquitousKeyValueStore(
                    configuration: StoreConfiguration(directory: directory.path, storeName: name))
            }
        }
        try directory.write([1], to: "file")
        #expect(throws: StoreError.self) {
            try UbiquitousKeyValueStore(configuration: StoreConfiguration(directory: directory.file("file/below")))
        }
    }

    @Test("a damaged file is quarantined and reported in the status; the store opens")
    func recoveryNotes() throws {
        do {
            let store = try open()
            for number in 0..<3 { store.set(Int64(number), forKey: "key \(number)") }
        }
        let name = "replica/0000000000000001.log"
        var bytes = directory.bytes(name)
        bytes[3] ^= 1
        try directory.write(bytes, to: name)
        let store = try open()
        #expect(store.keys == ["key 0", "key 1", "key 2"])
        #expect(store.status.recoveryNotes.count == 2)
        #expect(directory.bytes(name + ".damaged-1") == bytes)
    }

    @Test("abandoned change streams are released")
    func abandonedStreams() {
        let delivery = ChangeDelivery { _, _ in }
        let kept = delivery.addFeed()
        for _ in 0..<100 { _ = delivery.addFeed() }
        #expect(delivery.feedCount == 1)
        #expect(!kept.isFinished)
    }

    @Test("a slow reader gets what it missed as one change per reason, with each key once")
    func slowReader() async {
        let feed = ChangeFeed()
        feed.send(StoreChange(reason: .serverChange, keys: ["a", "b"]))
        feed.send(StoreChange(reason: .initialSyncChange, keys: ["c"]))
        feed.send(StoreChange(reason: .serverChange, keys: ["b", "d"]))
        #expect(await feed.next() == StoreChange(reason: .serverChange, keys: ["a", "b", "d"]))
        #expect(await feed.next() == StoreChange(reason: .initialSyncChange, keys: ["c"]))
        feed.send(StoreChange(reason: .serverChange, keys: ["a"]))
        feed.finish()
        #expect(await feed.next() == StoreChange(reason: .serverChange, keys: ["a"]))
        #expect(await feed.next() == nil)
    }
}
