import Foundation
import KVStore
import KVStoreTesting
import StoreTestSupport
import Testing

@testable import KVStoreSealed

@Suite("Values that only the devices of their user can read", .timeLimit(.minutes(3)))
struct SealedStoreTests {
    private let world: SealedWorld

    init() throws { world = try SealedWorld() }

    @Test("a value sealed on one device is read on another, and its daemon sees neither value nor key")
    func sharing() async throws {
        let (desk, laptop) = try await world.pair()
        try desk.write("milk and bread", "shopping list")
        try await world.cloud.settle()
        #expect(try laptop.read("shopping list") == "milk and bread")
        let daemon = try world.operatorStore()
        try await world.cloud.settle()
        let key = try #require(daemon.keys.first)
        #expect(daemon.keys.count == 1 && key.utf8.count == 24)
        let bytes = try #require(daemon.data(forKey: key))
        for secret in ["milk", "shopping", "list"] {
            #expect(bytes.range(of: Data(secret.utf8)) == nil)
        }
    }

    @Test("texts of nearly the same length have the same sealed length")
    func sizes() async throws {
        let (desk, _) = try await world.pair()
        try desk.write(String(repeating: "a", count: 1_000), "one")
        try desk.write(String(repeating: "b", count: 1_010), "two")
        let lengths = desk.values.store.keys.compactMap {
            desk.values.store.data(forKey: $0)?.count
        }
        #expect(lengths.count == 2 && Set(lengths).count == 1)
    }

    @Test("the sealed size that is computed is the one that the store counts")
    func computedSizes() async throws {
        let (desk, _) = try await world.pair()
        let store = desk.notes.store
        for valueCount in [0, 1, 31, 32, 33, 64, 100, 999, 1_000, 4_097, 65_536, 300_001] {
            for keyCount in [1, 2, 24, 63, 64, 65, 255, 1_024] {
                let key = String(repeating: "k", count: keyCount)
                let value = PropertyListValue.data(Data(count: valueCount))
                let before = store.status.usedByteCount
                try desk.notes.write(value, forKey: key)
                let computed = SealedStore.sealedByteCount(ofValue: value.encoded().count, key: keyCount)
                #expect(store.status.usedByteCount - before == computed, "\(valueCount) \(keyCount)")
                try desk.notes.write(nil, forKey: key)
            }
        }
    }

    @Test("the newest write wins, and a removed key is gone everywhere")
    func latestWins() async throws {
        let (desk, laptop) = try await world.pair()
        try desk.write("first", "note")
        try await world.cloud.settle()
        try laptop.write("second", "note")
        try await world.cloud.settle()
        #expect(try desk.read("note") == "second")
        try desk.write(nil, "note")
        try await world.cloud.settle()
        #expect(try laptop.read("note") == nil)
        #expect(laptop.values.store.keys.isEmpty)
    }

    @Test("a change by another device names the key, also of a value that was removed")
    func changes() async throws {
        let (desk, laptop) = try await world.pair()
        try desk.write("here", "note")
        try await world.cloud.settle()
        var changes = laptop.notes.changes.makeAsyncIterator()
        try desk.write("there", "note")
        try await world.cloud.settle()
        #expect(await changes.next()?.keys == ["note"])
        try desk.write(nil, "note")
        try await world.cloud.settle()
        #expect(await changes.next()?.keys == ["note"])
    }

    @Test("every property list of random shape comes back as it was", arguments: 0..<8 as Range<UInt64>)
    func roundTrip(seed: UInt64) async throws {
        let (desk, laptop) = try await world.pair()
        var random = SeededGenerator(seed: seed)
        var written: [String: PropertyListValue] = [:]
        for index in 0..<40 {
            let key =
                String(
                    (0...Int.random(in: 0..<40, using: &random)).map { _ in "aé漢😀/\u{0}".randomElement(using: &random)!
                    }) + "\(index)"
            let bytes = (0..<Int.random(in: 0..<3_000, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            written[key] = [
                PropertyListValue.data(Data(bytes)), .integer(Int64(bytes.count)), .bool(true),
                .array([.string(key), .double(0.5)]),
            ].randomElement(using: &random)
            try desk.notes.write(written[key], forKey: key)
        }
        try await world.cloud.settle()
        let contents = try laptop.notes.contents()
        #expect(contents.values == written && contents.problems.isEmpty)
    }

    @Test("a device without the key neither reads nor writes, and says what to do")
    func withoutKey() async throws {
        let (desk, _) = try await world.pair()
        let tablet = try world.device("tablet")
        try desk.write("secret", "note")
        try await world.cloud.settle()
        let missing = #expect(throws: StoreError.self) { try tablet.read("note") }
        #expect(missing?.code == .noContentKey)
        let contents = try tablet.notes.contents()
        #expect(contents.values.isEmpty && contents.problems.map(\.code) == [.noContentKey])
        let error = #expect(throws: StoreError.self) { try tablet.write("mine", "note") }
        #expect(error?.code == .noContentKey && error?.hint?.contains("kvs seal join") == true)
    }

    // MARK: What a daemon may try

    @Test("a value that was changed in any byte, cut or extended is not opened, and not shown as missing")
    func tampering() async throws {
        let (desk, laptop, daemon, key, sealed) = try await world.pair(noting: "note")
        var forgeries = sealed.indices.map { index in
            var bytes = sealed
            bytes[index] ^= 0x10
            return bytes
        }
        forgeries += [sealed.dropLast(), sealed.prefix(20), sealed + [0], Data()]
        for forgery in forgeries {
            daemon.set(Data(forgery), forKey: key)
            try await world.cloud.settle()
            let error = #expect(throws: StoreError.self) { try laptop.read("note") }
            // Another version or key may be meant.
            #expect([.notAuthentic, .noContentKey, .damaged].contains(error?.code))
            #expect(try laptop.notes.contents().problems.count == 1)
        }
        try laptop.write("again", "note")
        try await world.cloud.settle()
        #expect(try desk.read("note") == "again")
    }

    @Test("a value that was moved to another key or store is not opened")
    func moving() async throws {
        let (desk, laptop) = try await world.pair()
        try desk.write("yes", "pay bob")
        try desk.write("no", "pay eve")
        try await world.cloud.settle()
        let daemon = try world.operatorStore()
        try await world.cloud.settle()
        let (one, other) = (daemon.keys[0], daemon.keys[1])
        let (first, second) = (daemon.data(forKey: one), daemon.data(forKey: other))
        daemon.set(second, forKey: one)
        daemon.set(first, forKey: other)
        try await world.cloud.settle()
        for key in ["pay bob", "pay eve"] {
            #expect(throws: StoreError.self) { try laptop.read(key) }
        }
        #expect(try laptop.notes.contents().problems.map(\.code) == [.notAuthentic, .notAuthentic])
    }

    @Test("an older value that is put back is noticed, after a restart and after the key was removed too")
    func rollingBack() async throws {
        let (desk, laptop, daemon, key, old) = try await world.pair(noting: "old")
        try desk.write("new", "note")
        try await world.cloud.settle()
        #expect(try laptop.read("note") == "new")
        daemon.set(old, forKey: key)
        try await world.cloud.settle()
        for store in [laptop.notes, try laptop.reopened(), desk.notes] {
            let error = #expect(throws: StoreError.self) { try store.propertyList(forKey: "note") }
            #expect(error?.code == .notAuthentic)
        }
        try desk.write(nil, "note")
        try await world.cloud.settle()
        daemon.set(old, forKey: key)
        try await world.cloud.settle()
        #expect(throws: StoreError.self) { try desk.read("note") }
        try desk.notes.acceptOlder(forKey: "note")
        #expect(try desk.read("note") == "old")
    }

    @Test("an older value that is put back under an earlier content key is noticed")
    func rollingBackAcrossKeys() async throws {
        let (desk, laptop, daemon, formerKey, former) = try await world.pair(noting: "old")
        try desk.account.rotateKey()
        try desk.notes.reseal()
        try desk.write("new", "note")
        try await world.cloud.settle()
        #expect(try laptop.read("note") == "new")
        for key in daemon.keys { daemon.removeObject(forKey: key) }
        daemon.set(former, forKey: formerKey)
        try await world.cloud.settle()
        for store in [laptop.notes, try laptop.reopened(), desk.notes] {
            let error = #expect(throws: StoreError.self) { try store.propertyList(forKey: "note") }
            #expect(error?.code == .notAuthentic)
            #expect(try store.contents().problems.map(\.code) == [.notAuthentic])
        }
    }

    @Test("what was noted by stored key, as earlier versions did, still counts")
    func earlierNotes() async throws {
        let (desk, laptop) = try await world.pair()
        try desk.write("old", "note")
        try await world.cloud.settle()
        let stored = try #require(laptop.values.store.keys.first)
        try Data(#"{"version":1,"revisions":{"\#(stored)":18446744073709551615}}"#.utf8)
            .write(to: URL(fileURLWithPath: world.path(of: "laptop", "sealed.json")))
        let error = #expect(throws: StoreError.self) {
            try laptop.reopened().propertyList(forKey: "note")
        }
        #expect(error?.code == .notAuthentic)
    }

    @Test(
        "damage of any kind is reported, and never as a missing value",
        arguments: ["text", "number", "list", "no property list", "empty", "version"])
    func damage(kind: String) async throws {
        let (_, laptop, daemon, key, note) = try await world.pair(noting: "note")
        var sealed = note
        switch kind {
        case "text": daemon.set("text", forKey: key)
        case "number": try daemon.write(.integer(7), forKey: key)
        case "list": try daemon.write(.array([.data(sealed)]), forKey: key)
        case "no property list": daemon.set(Data(), forKey: key)
        case "empty": daemon.set(Data(sealed.prefix(13)), forKey: key)
        default:
            sealed[4] = 9
            daemon.set(sealed, forKey: key)
        }
        try await world.cloud.settle()
        #expect(throws: StoreError.self) { try laptop.read("note") }
        #expect(try laptop.notes.contents().problems.count == 1)
        // A newer program may have sealed this one, under a key of which this device knows nothing.
        if kind == "version" {
            daemon.set(sealed, forKey: "s/AAAAAAAAAAAAAAAAAAAAAA")
            try await world.cloud.settle()
            let error = #expect(throws: StoreError.self) { try laptop.read("another") }
            #expect(error?.code == .damaged)
        }
    }

    @Test("a value with the highest of all revisions can be replaced")
    func highestRevision() async throws {
        let (desk, laptop) = try await world.pair()
        try desk.write("first", "note")
        try await world.cloud.settle()
        let stored = try #require(desk.values.store.keys.first)
        let key = try #require(try desk.account.refresh()?.current)
        let value = SealedValue(name: "note", revision: .max, bytes: PropertyListValue.string("last").encoded())
        try desk.values.store.write(
            .data(value.sealed(with: key, at: .init(store: "notes", storedKey: stored))), forKey: stored)
        try await world.cloud.settle()
        #expect(try laptop.read("note") == "last")
        try laptop.write("later", "note")
        try await world.cloud.settle()
        #expect(try laptop.read("note") == "later")
        #expect(try desk.read("note") == "later")
    }

    @Test("two programs of a device remember what either has seen")
    func twoPrograms() async throws {
        let (desk, laptop) = try await world.pair()
        for key in ["a", "b"] { try desk.write("old", key) }
        try await world.cloud.settle()
        let daemon = try world.operatorStore()
        try await world.cloud.settle()
        let old = daemon.keys.map { ($0, daemon.data(forKey: $0)) }
        for key in ["a", "b"] { try desk.write("new", key) }
        try await world.cloud.settle()
        let other = try laptop.reopened()
        #expect(try laptop.read("a") == "new" && other.propertyList(forKey: "b") == .string("new"))
        for (key, value) in old { daemon.set(value, forKey: key) }
        try await world.cloud.settle()
        #expect(try laptop.reopened().contents().problems.map(\.code) == [.notAuthentic, .notAuthentic])
    }

    @Test("a device whose clock is an hour slow replaces values as always")
    func slowClock() async throws {
        let (desk, _) = try await world.pair()
        let slow = try world.device("slow", clockError: .seconds(-3_600))
        try await world.cloud.settle()
        try slow.account.join(words: desk.words(), deviceNamed: "slow")
        try desk.write("one", "note")
        try await world.cloud.settle()
        try slow.write("two", "note")
        try await world.cloud.settle()
        #expect(try desk.read("note") == "two")
        try desk.write("three", "note")
        try await world.cloud.settle()
        #expect(try slow.read("note") == "three")
    }
}
