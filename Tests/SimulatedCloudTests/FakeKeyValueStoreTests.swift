import Foundation
import KVStore
import KVStoreTesting
import Synchronization
import Testing

@Suite("Fake store")
struct FakeKeyValueStoreTests {
    private final class Posted: Sendable {
        let changes = Mutex<[StoreChange]>([])
        var all: [StoreChange] { changes.withLock { $0 } }
    }

    private let center = NotificationCenter()

    private func posted(by store: FakeKeyValueStore) -> Posted {
        let posted = Posted()
        _ = center.addObserver(
            forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: store, queue: nil
        ) { note in
            let reason = note.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int
            let keys = note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String]
            posted.changes.withLock {
                $0.append(
                    StoreChange(reason: reason.flatMap(StoreChangeReason.init) ?? .serverChange, keys: keys ?? []))
            }
        }
        return posted
    }

    @Test("every getter returns what the real store returns for every type of value")
    func coercions() throws {
        let real = try SimulatedCloud(seed: 1).device("phone").store
        let fake = FakeKeyValueStore()
        let values: [Any?] = [
            "text", "12 apples", "true", true, false, 3, Int64.max, UInt64.max, 2.67, -5.7, Data([1, 2]),
            Date(timeIntervalSince1970: 5), [1, "a"], ["key": 1.5], URL(filePath: "/"), nil,
        ]
        for (index, value) in values.enumerated() {
            for store in [real, fake] as [any KeyValueStoring] {
                store.set(value, forKey: "\(index)")
            }
        }
        func readings(_ store: any KeyValueStoring) -> [String] {
            values.indices.map(String.init).map { key in
                let object = store.object(forKey: key).map { "\(type(of: $0)) \($0)" }
                return """
                    \(object ?? "nil") \(store.string(forKey: key) ?? "nil") \
                    \(store.longLong(forKey: key)) \(store.double(forKey: key)) \
                    \(store.bool(forKey: key)) \(store.data(forKey: key) ?? Data()) \
                    \(store.array(forKey: key) ?? []) \(store.dictionary(forKey: key) ?? [:])
                    """
            }
        }
        #expect(readings(fake) == readings(real))
        #expect(fake.dictionaryRepresentation.keys.sorted() == real.dictionaryRepresentation.keys.sorted())
    }

    @Test("an empty key is ignored, and removing a key that cannot exist does nothing")
    func impossibleKeys() {
        let store = FakeKeyValueStore()
        store.set("x", forKey: "")
        for key in ["", String(repeating: "k", count: 129)] {
            store.removeObject(forKey: key)
            store.set(nil as String?, forKey: key)
        }
        #expect(store.dictionaryRepresentation.isEmpty)
    }

    @Test("what cannot be stored is reported on standard error, as by the real store")
    func reports() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let store = FakeKeyValueStore()
            store.set(URL(filePath: "/tmp"), forKey: "page")
            store.set([NSNull()], forKey: "list")
            store.set("x", forKey: "")
        }
        let lines = String(decoding: try #require(result).standardErrorContent, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("FakeKeyValueStore: ") })
        #expect(lines.first?.contains("key page") == true)
    }

    @Test("calls are counted per member and key")
    func counts() {
        let store = FakeKeyValueStore()
        store.set("dark", forKey: "theme")
        store.set(3, forKey: "size")
        store.set(["a"], forKey: "list")
        _ = store.string(forKey: "theme")
        _ = store.string(forKey: "theme")
        store.removeObject(forKey: "size")
        _ = store.dictionaryRepresentation
        #expect(store.synchronize())
        #expect(store.callCount(of: .set) == 3)
        #expect(store.callCount(of: .set, forKey: "size") == 1)
        #expect(store.callCount(of: .string, forKey: "theme") == 2)
        #expect(store.callCount(of: .object) == 0)
        #expect(store.calls.suffix(2) == [.init(.dictionaryRepresentation), .init(.synchronize)])
        #expect(store.calls.contains(.init(.removeObject, forKey: "size")))
    }

    @Test("the n-th write fails without a notification, and the others are stored")
    func failing() {
        let store = FakeKeyValueStore(center: center)
        let posted = posted(by: store)
        store.failWrite(2)
        store.failWrite(4)
        for key in ["a", "b", "c"] { store.set(true, forKey: key) }
        store.removeObject(forKey: "a")
        #expect(store.dictionaryRepresentation.keys.sorted() == ["a", "c"])
        store.removeObject(forKey: "a")
        store.failWrite()
        store.set(2, forKey: "c")
        #expect(store.dictionaryRepresentation.keys.sorted() == ["c"])
        #expect(store.longLong(forKey: "c") == 1)
        #expect(posted.all.isEmpty)
    }

    @Test("a write that was named twice fails once, and later ones fail when they are named")
    func repeatedFailure() {
        let store = FakeKeyValueStore(center: center)
        store.failWrite()
        store.failWrite()
        store.set("1", forKey: "a")
        store.failWrite()
        store.set("2", forKey: "b")
        store.set("3", forKey: "c")
        #expect(store.string(forKey: "a") == nil && store.string(forKey: "b") == nil)
        #expect(store.string(forKey: "c") == "3")
    }

    @Test("a full store drops what needs more space with reason 2, until something is removed")
    func full() {
        let store = FakeKeyValueStore(center: center)
        let posted = posted(by: store)
        store.set("a note", forKey: "note")
        store.set(2, forKey: "other")
        store.isFull = true
        store.set("a longer note", forKey: "note")
        store.set(1, forKey: "new")
        #expect(
            posted.all == [
                StoreChange(reason: .quotaViolationChange, keys: ["note"]),
                StoreChange(reason: .quotaViolationChange, keys: ["new"]),
            ])
        #expect(store.string(forKey: "note") == "a note")
        store.set("short", forKey: "note")
        store.removeObject(forKey: "other")
        store.set(1, forKey: "new")
        #expect(store.string(forKey: "note") == "short")
        #expect(store.longLong(forKey: "new") == 1)
        store.isFull = false
        store.set("a longer note", forKey: "note")
        #expect(store.string(forKey: "note") == "a longer note")
        #expect(posted.all.count == 2)
    }

    @Test("the limits of the real store apply")
    func limits() {
        let store = FakeKeyValueStore(limits: StoreLimits(keyCount: 1), center: center)
        let posted = posted(by: store)
        store.set(Data(count: 1_048_577), forKey: "big")
        store.set(1, forKey: "a")
        store.set(1, forKey: "b")
        #expect(posted.all.map(\.keys) == [["big"], ["b"]])
        #expect(store.dictionaryRepresentation.keys.sorted() == ["a"])
    }

    @Test("a change of another device is notified with reason 0 if it differs")
    func receiving() {
        let store = FakeKeyValueStore(center: center)
        let posted = posted(by: store)
        store.set("light", forKey: "theme")
        store.receive(.string("dark"), forKey: "theme")
        store.receive(.string("dark"), forKey: "theme")
        #expect(store.string(forKey: "theme") == "dark")
        store.receive(nil, forKey: "theme")
        #expect(store.object(forKey: "theme") == nil)
        #expect(posted.all == Array(repeating: StoreChange(reason: .serverChange, keys: ["theme"]), count: 2))
    }

    @Test("a store without an account keeps its values, and carries them over into one")
    func account() {
        let store = FakeKeyValueStore(account: nil, center: center)
        let posted = posted(by: store)
        store.set("local", forKey: "both")
        store.set("local", forKey: "mine")
        store.receive(.string("unheard"), forKey: "both")
        #expect(store.string(forKey: "both") == "local")
        store.changeAccount(to: "A")
        store.changeAccount(to: "A")
        #expect(posted.all == [StoreChange(reason: .accountChange, keys: [])])
        store.receive(.string("A's"), forKey: "both")
        store.changeAccount(to: "B")
        #expect(store.account == "B")
        #expect(store.dictionaryRepresentation.isEmpty)
        store.changeAccount(to: "A")
        #expect(store.string(forKey: "both") == "A's")
        store.changeAccount(to: nil)
        #expect(store.string(forKey: "both") == "local")
        #expect(
            posted.all == [
                StoreChange(reason: .accountChange, keys: []), StoreChange(reason: .serverChange, keys: ["both"]),
                StoreChange(reason: .accountChange, keys: ["both", "mine"]),
                StoreChange(reason: .accountChange, keys: ["both", "mine"]),
                StoreChange(reason: .accountChange, keys: ["both"]),
            ])
    }
}
