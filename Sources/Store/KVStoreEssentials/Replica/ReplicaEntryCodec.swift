import Essentials
import KVStoreCore
import KVStoreLog

// The payload of a frame in a replica's log; `BinaryCoding.swift` says how stamps and cursors are written.
//
// Kind 1, a key:           0 1 flags (1 pending, 2 provisional, 4 removed) · 1 20 stamp · 21 2 bytes of the key ·
//                          23 the key, then the value as a binary property list
// Kind 2, acknowledged:    0 20 stamp · 20 the key
// Kind 3, state:           0 8 replica id · 8 8 clock milliseconds · 16 4 clock counter · 20 8 milliseconds and 28 4
//                          counter of the greatest stamp that the daemon holds · 32 8 offset to the daemon's clock in
//                          milliseconds · 40 8 last sync in milliseconds since 1970, or the least number for never ·
//                          48 8 storage identity · 56 16 cursor · 72 16 cursor of a partial download ·
//                          88 1 flags (1 first download completed, 2 cursor known, 4 partial download)
// Kind 4, several:         for each entry 0 4 bytes of its payload · 4 1 its kind · 5 its payload
//
// The last entry of a key, and the last state, count: processes append only after they have read to the end.
extension ReplicaEntry {
    private enum Kind {
        static let record: UInt8 = 1
        static let acknowledged: UInt8 = 2
        static let state: UInt8 = 3
        static let several: UInt8 = 4
    }

    /// One payload for entries that must survive a torn write together; nil without any.
    static func payload(of entries: [ReplicaEntry]) -> LogPayload? {
        guard entries.count > 1 else { return entries.first?.payload }
        var bytes: [UInt8] = []
        for payload in entries.lazy.map(\.payload) {
            bytes.append(littleEndian: UInt32(payload.bytes.count))
            bytes.append(payload.kind)
            bytes.append(contentsOf: payload.bytes)
        }
        return LogPayload(kind: Kind.several, bytes: bytes)
    }

    /// The entries of a frame, in order; nil for bytes that this version does not write.
    static func entries(in frame: LogFrame) -> [ReplicaEntry]? {
        guard frame.kind == Kind.several else {
            return ReplicaEntry(kind: frame.kind, frame.payload).map { [$0] }
        }
        var entries: [ReplicaEntry] = []
        var rest = frame.payload[...]
        while !rest.isEmpty {
            guard rest.count >= 5 else { return nil }
            let head = UnsafeRawBufferPointer(rebasing: rest.prefix(5))
            let byteCount = Int(head.littleEndian(UInt32.self, at: 0))
            rest = rest.dropFirst(5)
            guard byteCount <= rest.count,
                let entry = ReplicaEntry(kind: head[4], UnsafeRawBufferPointer(rebasing: rest.prefix(byteCount)))
            else { return nil }
            entries.append(entry)
            rest = rest.dropFirst(byteCount)
        }
        return entries
    }

    var payload: LogPayload {
        var bytes: [UInt8] = []
        switch self {
        case .record(let entry):
            let (key, content) = (entry.record.key.text.utf8, entry.record.content)
            bytes.reserveCapacity(23 + key.count + content.byteCount)
            bytes.append(
                (entry.status == .acknowledged ? 0 : 1) | (entry.status == .provisional ? 2 : 0)
                    | (content.isTombstone ? 4 : 0))
            bytes.append(entry.record.stamp)
            bytes.append(littleEndian: UInt16(key.count))
            bytes.append(contentsOf: key)
            if case .value(let data) = content { bytes.append(contentsOf: data) }
            return LogPayload(kind: Kind.record, bytes: bytes)
        case .acknowledged(let key, let stamp):
            bytes.append(stamp)
            bytes.append(contentsOf: key.text.utf8)
            return LogPayload(kind: Kind.acknowledged, bytes: bytes)
        case .state(let state):
            bytes.append(littleEndian: state.replica.rawValue)
            bytes.append(littleEndian: state.clock.milliseconds)
            bytes.append(littleEndian: state.clock.counter)
            bytes.append(littleEndian: state.confirmed.milliseconds)
            bytes.append(littleEndian: state.confirmed.counter)
            bytes.append(littleEndian: state.offsetMilliseconds)
            bytes.append(littleEndian: state.lastSyncMilliseconds ?? .min)
            bytes.append(littleEndian: state.storageIdentity)
            bytes.append(state.cursor)
            bytes.append(state.partialDownload)
            bytes.append(
                (state.initialSyncCompleted ? 1 : 0) | (state.cursor == nil ? 0 : 2)
                    | (state.partialDownload == nil ? 0 : 4))
            return LogPayload(kind: Kind.state, bytes: bytes)
        }
    }

    private init?(kind: UInt8, _ bytes: UnsafeRawBufferPointer) {
        switch kind {
        case Kind.record:
            guard bytes.count >= 23 else { return nil }
            let keyEnd = 23 + Int(bytes.littleEndian(UInt16.self, at: 21))
            guard keyEnd <= bytes.count, let key = bytes.key(23..<keyEnd) else { return nil }
            let flags = bytes[0]
            let content: StoreRecord.Content = flags & 4 != 0 ? .tombstone : .value(Data(bytes[keyEnd...]))
            self = .record(
                Table.Entry(
                    record: StoreRecord(key: key, stamp: bytes.stamp(at: 1), content: content),
                    status: flags & 2 != 0 ? .provisional : flags & 1 != 0 ? .pending : .acknowledged))
        case Kind.acknowledged:
            guard bytes.count >= 20, let key = bytes.key(20..<bytes.count) else { return nil }
            self = .acknowledged(key: key, stamp: bytes.stamp(at: 0))
        case Kind.state:
            guard bytes.count == 89 else { return nil }
            let flags = bytes[88]
            var state = ReplicaState(replica: ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: 0)))
            state.clock = bytes.reading(at: 8)
            state.confirmed = bytes.reading(at: 20)
            state.offsetMilliseconds = bytes.littleEndian(Int64.self, at: 32)
            let lastSync = bytes.littleEndian(Int64.self, at: 40)
            state.lastSyncMilliseconds = lastSync == .min ? nil : lastSync
            state.storageIdentity = bytes.littleEndian(UInt64.self, at: 48)
            state.cursor = flags & 2 != 0 ? bytes.cursor(at: 56) : nil
            state.partialDownload = flags & 4 != 0 ? bytes.cursor(at: 72) : nil
            state.initialSyncCompleted = flags & 1 != 0
            self = .state(state)
        default: return nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The clock reading in the 12 bytes at `offset`.
    fileprivate func reading(at offset: Int) -> HybridClock.Reading {
        HybridClock.Reading(
            milliseconds: littleEndian(Int64.self, at: offset), counter: littleEndian(UInt32.self, at: offset + 8))
    }
}
