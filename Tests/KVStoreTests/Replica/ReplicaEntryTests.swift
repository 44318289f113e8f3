import Foundation
import Testing

@testable import KVStore

@Suite("Entries of a replica's log")
struct ReplicaEntryTests {
    private static let stamp = Stamp(
        milliseconds: 1_789_732_800_123, counter: 7, replica: ReplicaID(rawValue: .max - 1))

    private static var states: [ReplicaState] {
        var full = ReplicaState(replica: ReplicaID(rawValue: 5))
        full.home = 9
        full.clock = HybridClock.Reading(stamp)
        full.confirmed = HybridClock.Reading(milliseconds: 3, counter: .max)
        full.offsetMilliseconds = -4
        (full.epoch, full.cursor) = ("00000000000000ef", .max)
        full.initialSyncCompleted = true
        full.lastSyncMilliseconds = -1
        full.download = SyncEpoch(epoch: "00000000000000fé", end: 12)
        var first = ReplicaState(replica: ReplicaID(rawValue: 0))
        first.download = SyncEpoch(epoch: "", end: 0)
        return [full, first, ReplicaState(replica: ReplicaID(rawValue: 1))]
    }

    private static var entries: [ReplicaEntry] {
        states.map { .state($0) } + [
            .acknowledged(key: "ké", stamp: stamp),
            .record(
                Record(key: "ké", stamp: stamp, content: .value(Data([0, 255]))),
                isPending: true, isProvisional: true),
            .record(
                Record(key: "k", stamp: stamp, content: .tombstone), isPending: false,
                isProvisional: false),
        ]
    }

    private func read(_ kind: UInt8, _ bytes: some Collection<UInt8>) -> [ReplicaEntry]? {
        Array(bytes).withUnsafeBytes { bytes in
            ReplicaEntry.entries(
                in: LogFrame(
                    position: LogPosition(segment: 1, offset: 64), kind: kind, payload: bytes,
                    durable: 0))
        }
    }

    @Test("every entry reads back as it was written")
    func roundTrip() {
        for entry in Self.entries {
            #expect(read(entry.payload.kind, entry.payload.bytes) == [entry])
        }
    }

    @Test("several entries read back from one frame in their order")
    func several() throws {
        let payload = try #require(ReplicaEntry.payload(of: Self.entries))
        #expect(read(payload.kind, payload.bytes) == Self.entries)
        #expect(ReplicaEntry.payload(of: []) == nil)
        #expect(ReplicaEntry.payload(of: [Self.entries[0]]) == Self.entries[0].payload)
    }

    @Test("several entries that are cut short, or of which one is unknown, are none")
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

    @Test("bytes that end too early are another entry or none, and never stop the program")
    func cut() {
        for entry in Self.entries {
            let payload = entry.payload
            for count in 0..<payload.bytes.count {
                #expect(read(payload.kind, payload.bytes.prefix(count)) != [entry])
            }
        }
    }
}
