import Foundation
import StoreTestSupport
import Testing

@testable import KVStoreEssentials
@testable import KVStoreCore
@testable import KVStoreLog

@Suite("Entries of a replica's log")
struct ReplicaEntryTests {
    private static let stamp = StoreStamp(
        milliseconds: 1_789_732_800_123, counter: 7, replica: ReplicaID(rawValue: .max - 1))

    private static var states: [ReplicaState] {
        var full = ReplicaState(replica: ReplicaID(rawValue: 5))
        full.storageIdentity = 9
        full.clock = HybridClock.Reading(stamp)
        full.confirmed = HybridClock.Reading(milliseconds: 3, counter: .max)
        full.offsetMilliseconds = -4
        full.cursor = SyncCursor(epoch: EpochID(rawValue: 0xEF), sequence: .max)
        full.initialSyncCompleted = true
        full.lastSyncMilliseconds = -1
        full.partialDownload = SyncCursor(epoch: EpochID(rawValue: .max), sequence: 12)
        var first = ReplicaState(replica: ReplicaID(rawValue: 0))
        first.partialDownload = SyncCursor(epoch: EpochID(rawValue: 0), sequence: 0)
        return [full, first, ReplicaState(replica: ReplicaID(rawValue: 1))]
    }

    private static var entries: [ReplicaEntry] {
        states.map { .state($0) } + [
            .acknowledged(key: "ké", stamp: stamp),
            .record(
                Table.Entry(
                    record: StoreRecord(key: "ké", stamp: stamp, content: .value(Data([0, 255]))), status: .provisional)
            ),
            .record(
                Table.Entry(record: StoreRecord(key: "k", stamp: stamp, content: .value(Data())), status: .pending)),
            .record(
                Table.Entry(record: StoreRecord(key: "k", stamp: stamp, content: .tombstone), status: .acknowledged)),
        ]
    }

    private func read(_ kind: UInt8, _ bytes: some Collection<UInt8>) -> [ReplicaEntry]? {
        Array(bytes).withUnsafeBytes { bytes in
            ReplicaEntry.entries(
                in: LogFrame(position: LogPosition(segment: 1, offset: 64), kind: kind, payload: bytes, durable: 0))
        }
    }

    @Test("every entry round-trips")
    func roundTrip() {
        for entry in Self.entries {
            #expect(read(entry.payload.kind, entry.payload.bytes) == [entry])
        }
    }

    @Test("several entries round-trip through one frame in their order")
    func several() throws {
        let payload = try #require(ReplicaEntry.payload(of: Self.entries))
        #expect(read(payload.kind, payload.bytes) == Self.entries)
        #expect(ReplicaEntry.payload(of: []) == nil)
        #expect(ReplicaEntry.payload(of: [Self.entries[0]]) == Self.entries[0].payload)
    }

    @Test("several entries are rejected if they are truncated or one is unknown")
    func cutSeveral() throws {
        let payload = try #require(ReplicaEntry.payload(of: Self.entries))
        var ends: Set<Int> = [0]
        for entry in Self.entries { ends.insert(ends.max()! + 5 + entry.payload.bytes.count) }
        for count in 0..<payload.bytes.count where !ends.contains(count) {
            #expect(read(payload.kind, payload.bytes.prefix(count)) == nil, "\(count) bytes")
        }
        var unknown = payload.bytes
        unknown[4] = 9
        #expect(read(payload.kind, unknown) == nil)
        var nested = payload.bytes
        nested[4] = payload.kind
        #expect(read(payload.kind, nested) == nil)
    }

    @Test("truncated bytes are rejected or another entry, and never trap")
    func cut() {
        for entry in Self.entries {
            let payload = entry.payload
            for count in 0..<payload.bytes.count {
                #expect(read(payload.kind, payload.bytes.prefix(count)) != [entry])
            }
        }
    }

    @Test("a state has a fixed size, and another size is rejected")
    func stateSize() throws {
        for state in Self.states {
            let payload = ReplicaEntry.state(state).payload
            #expect(payload.bytes.count == 89)
            #expect(read(payload.kind, payload.bytes.dropLast()) == nil)
            #expect(read(payload.kind, payload.bytes + [0]) == nil)
        }
    }

    @Test("keys of canonically equivalent texts keep their bytes")
    func canonicalKeys() {
        let record = StoreRecord(key: "e\u{301}", stamp: Self.stamp, content: .tombstone)
        let entry = ReplicaEntry.record(Table.Entry(record: record, status: .pending))
        let equivalent = ReplicaEntry.record(
            Table.Entry(record: StoreRecord(key: "\u{e9}", stamp: Self.stamp, content: .tombstone), status: .pending))
        #expect(read(entry.payload.kind, entry.payload.bytes) == [entry])
        #expect(read(entry.payload.kind, entry.payload.bytes) != [equivalent])
    }
}
