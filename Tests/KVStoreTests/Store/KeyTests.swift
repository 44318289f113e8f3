import Foundation
import KVStoreCore
import KVStoreLog
import KVStoreSimulation
import Synchronization
import StoreTestSupport
import Testing

import KVStore
@testable import KVStoreEssentials

@Suite("Keys of canonically equivalent texts", .timeLimit(.minutes(5)))
struct KeyTests {
    private let decomposed = "cafe\u{301}"
    private let composed = "caf\u{e9}"

    private func bytes(_ keys: some Sequence<String>) -> Set<[UInt8]> {
        Set(keys.map { Array($0.utf8) })
    }

    private func open(_ disk: SimulatedDisk, _ transport: FakeTransport? = nil) throws -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: "unused", transport: transport),
            runtime: .over { _ in disk.storage() })
    }

    @Test("a log keeps both keys across reopening, removal and rewriting")
    func log() throws {
        let disk = SimulatedDisk()
        let now = Instant(wall: 1_000_000, monotonic: 0)
        var options = DurableReplica.Options()
        options.segmentByteCount = 512
        func open() throws -> DurableReplica {
            try DurableReplica(storage: disk.storage(), options: options, seed: 1)
        }
        func set(_ durable: DurableReplica, _ key: String, _ text: String?) throws {
            let content: StoreRecord.Content = text.map { .value(Data($0.utf8)) } ?? .tombstone
            _ = try durable.transact(at: now) {
                $0.write([StoreKey(key): content], at: $1).ready
            }
        }
        func value(_ text: String) -> StoreRecord.Content { .value(Data(text.utf8)) }
        let first = try open()
        var number = 0
        while disk.segments.last ?? 0 < 4 {
            number += 1
            try set(first, decomposed, "\(number)")
            try set(first, composed, "\(-number)")
        }
        try first.close()
        let second = try open()
        #expect(
            second.replica.visibleContents == [
                StoreKey(decomposed): value("\(number)"), StoreKey(composed): value("\(-number)"),
            ])
        try set(second, decomposed, nil)
        try second.close()
        #expect(try open().replica.visibleContents == [StoreKey(composed): value("\(-number)")])
    }

    @Test("both keys reach another device and are notified, each with its bytes")
    func notification() async throws {
        let transport = FakeTransport()
        let phone = try open(SimulatedDisk(), transport)
        let mac = try open(SimulatedDisk(), transport)
        let (posted, posting) = AsyncStream.makeStream(of: [String].self)
        let token = NotificationCenter.default.addObserver(
            forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: mac,
            queue: nil
        ) { note in
            posting.yield(note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String] ?? [])
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let changes = mac.changes
        phone.set("1", forKey: decomposed)
        phone.set("2", forKey: composed)
        _ = try await phone.synchronizeNow()
        #expect(phone.status.pendingKeyCount == 0)
        let expected = bytes([decomposed, composed])
        #expect(bytes(transport.values.keys.map(\.text)) == expected)
        var received: Set<[UInt8]> = []
        for await change in changes {
            received.formUnion(bytes(change.keys))
            if received.count == 2 { break }
        }
        #expect(received == expected)
        received = []
        for await keys in posted {
            received.formUnion(bytes(keys))
            if received.count == 2 { break }
        }
        #expect(received == expected)
        #expect(mac.string(forKey: decomposed) == "1")
        #expect(mac.string(forKey: composed) == "2")
        #expect(bytes(mac.keys) == expected)
        #expect(mac.keys.count == 2)
    }

    @Test("a slow reader of changes gets both keys in one change, each once")
    func feed() async throws {
        let feed = ChangeFeed()
        feed.send(StoreChange(reason: .serverChange, keys: [decomposed]))
        feed.send(StoreChange(reason: .serverChange, keys: [composed, decomposed]))
        let change = try #require(await feed.next())
        #expect(change.keys.map { Array($0.utf8) } == [decomposed, composed].map { Array($0.utf8) })
    }

    @Test("an account change carries both keys over")
    func accountChange() async throws {
        let transport = FakeTransport()
        let disks = Mutex<[String: SimulatedDisk]>([:])
        let store = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: "local"),
            runtime: .over { directory in
                disks.withLock { disks in
                    let disk = disks[directory] ?? SimulatedDisk()
                    disks[directory] = disk
                    return disk.storage()
                }
            })
        store.set("1", forKey: decomposed)
        store.set("2", forKey: composed)
        try store.changeAccount(to: StoreConfiguration(directory: "joined", transport: transport))
        _ = try await store.synchronizeNow()
        #expect(bytes(transport.values.keys.map(\.text)) == bytes([decomposed, composed]))
    }

    @Test("generated pairs stay apart across reopening and synchronization", arguments: 1...10)
    func generated(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let transport = FakeTransport()
        let (disk, other) = (SimulatedDisk(), SimulatedDisk())
        var expected: [StoreKey: String] = [:]
        do {
            let store = try open(disk, transport)
            for number in 0..<20 {
                let (left, right) = StoreKey.canonicalEquivalents(using: &random)
                for key in [left, right] {
                    let text = "\(number) \(key == left)"
                    store.set(text, forKey: key.text)
                    expected[key] = text
                }
            }
            _ = try await store.synchronizeNow()
            store.close()
        }
        func values(_ store: UbiquitousKeyValueStore) -> [StoreKey: String] {
            Dictionary(uniqueKeysWithValues: store.keys.map { (StoreKey($0), store.string(forKey: $0) ?? "") })
        }
        let reopened = try open(disk)
        #expect(values(reopened) == expected, "seed \(seed)")
        let second = try open(other, transport)
        _ = try await second.synchronizeNow()
        #expect(values(second) == expected, "seed \(seed)")
    }
}
