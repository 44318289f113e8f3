import Foundation

// The payload of a frame in a replica's log. Numbers are little-endian, texts UTF-8.
//
// Kind 1, a key:           0 1 flags (1 pending, 2 provisional, 4 removed) · 1 20 stamp · 21 2 bytes of the key ·
//                          23 the key, then the value as a binary property list
// Kind 2, acknowledged:    0 20 stamp · 20 the key
// Kind 3, state:           0 8 replica id · 8 8 clock milliseconds · 16 4 clock counter · 20 8 offset to the daemon's
//                          clock in milliseconds · 28 8 cursor · 36 8 last sync in milliseconds since 1970, or the
//                          least number for never · 44 1 flags (1 first download completed, 2 epoch known, 4 download
//                          under way) · 45 8 home · 53 8, 61 4 milliseconds and counter of the greatest stamp that the
//                          daemon has · 65 with flag 4: 8 its last number, 2 bytes of its epoch, that epoch · the epoch
//
// Kind 4, several:         for each entry 0 4 bytes of its payload · 4 1 its kind · 5 its payload
//
// A stamp: 8 milliseconds, 4 counter, 8 replica id.
//
// The last entry of a key, and the last state, count: processes append only after they have read to the end.
extension ReplicaEntry {
    private enum Kind {
        static let record: UInt8 = 1
        static let acknowledged: UInt8 = 2
        static let state: UInt8 = 3
        static let several: UInt8 = 4
    }

    /// Entries of which a torn write keeps all or none; nil without any.
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

    /// The entries of a frame, in order; nil for bytes that no version of this program writes.
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
                let entry = ReplicaEntry(
                    kind: head[4], UnsafeRawBufferPointer(rebasing: rest.prefix(byteCount)))
            else { return nil }
            entries.append(entry)
            rest = rest.dropFirst(byteCount)
        }
        return entries
    }

    /// The entry by itself.
    var payload: LogPayload {
        var bytes: [UInt8] = []
        switch self {
        case .record(let record, let isPending, let isProvisional):
            let key = Array(record.key.utf8)
            bytes.reserveCapacity(23 + key.count + record.content.byteCount)
            bytes.append(
                (isPending ? 1 : 0) | (isProvisional ? 2 : 0)
                    | (record.content.isTombstone ? 4 : 0))
            bytes.append(stamp: record.stamp)
            bytes.append(littleEndian: UInt16(key.count))
            bytes.append(contentsOf: key)
            if case .value(let data) = record.content { bytes.append(contentsOf: data) }
            return LogPayload(kind: Kind.record, bytes: bytes)
        case .acknowledged(let key, let stamp):
            bytes.append(stamp: stamp)
            bytes.append(contentsOf: key.utf8)
            return LogPayload(kind: Kind.acknowledged, bytes: bytes)
        case .state(let state):
            bytes.append(littleEndian: state.replica.rawValue)
            bytes.append(littleEndian: state.clock.milliseconds)
            bytes.append(littleEndian: state.clock.counter)
            bytes.append(littleEndian: state.offsetMilliseconds)
            bytes.append(littleEndian: state.cursor)
            bytes.append(littleEndian: state.lastSyncMilliseconds ?? .min)
            bytes.append(
                (state.initialSyncCompleted ? 1 : 0) | (state.epoch == nil ? 0 : 2)
                    | (state.download == nil ? 0 : 4))
            bytes.append(littleEndian: state.home)
            bytes.append(littleEndian: state.confirmed.milliseconds)
            bytes.append(littleEndian: state.confirmed.counter)
            if let download = state.download {
                bytes.append(littleEndian: download.end)
                bytes.append(littleEndian: UInt16(download.epoch.utf8.count))
                bytes.append(contentsOf: download.epoch.utf8)
            }
            bytes.append(contentsOf: (state.epoch ?? "").utf8)
            return LogPayload(kind: Kind.state, bytes: bytes)
        }
    }

    private init?(kind: UInt8, _ bytes: UnsafeRawBufferPointer) {
        switch kind {
        case Kind.record:
            guard bytes.count >= 23 else { return nil }
            let keyEnd = 23 + Int(bytes.littleEndian(UInt16.self, at: 21))
            guard keyEnd <= bytes.count, let key = bytes.text(23..<keyEnd) else { return nil }
            let flags = bytes[0]
            let content: Record.Content =
                flags & 4 != 0 ? .tombstone : .value(Data(bytes[keyEnd...]))
            self = .record(
                Record(key: key, stamp: bytes.stamp(at: 1), content: content),
                isPending: flags & 1 != 0, isProvisional: flags & 2 != 0)
        case Kind.acknowledged:
            guard bytes.count >= 20, let key = bytes.text(20..<bytes.count) else { return nil }
            self = .acknowledged(key: key, stamp: bytes.stamp(at: 0))
        case Kind.state:
            guard bytes.count >= 65 else { return nil }
            var start = 65
            var download: SyncEpoch?
            if bytes[44] & 4 != 0 {
                guard bytes.count >= 75 else { return nil }
                start = 75 + Int(bytes.littleEndian(UInt16.self, at: 73))
                guard start <= bytes.count, let epoch = bytes.text(75..<start) else { return nil }
                download = SyncEpoch(epoch: epoch, end: bytes.littleEndian(UInt64.self, at: 65))
            }
            guard let epoch = bytes.text(start..<bytes.count) else { return nil }
            var state = ReplicaState(
                replica: ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: 0)))
            state.clock = bytes.reading(at: 8)
            state.confirmed = bytes.reading(at: 53)
            state.offsetMilliseconds = bytes.littleEndian(Int64.self, at: 20)
            state.cursor = bytes.littleEndian(UInt64.self, at: 28)
            let lastSync = bytes.littleEndian(Int64.self, at: 36)
            state.lastSyncMilliseconds = lastSync == .min ? nil : lastSync
            state.home = bytes.littleEndian(UInt64.self, at: 45)
            state.initialSyncCompleted = bytes[44] & 1 != 0
            state.epoch = bytes[44] & 2 != 0 ? epoch : nil
            state.download = download
            self = .state(state)
        default: return nil
        }
    }
}

extension [UInt8] {
    package mutating func append(stamp: Stamp) {
        append(littleEndian: UInt64(stamp.milliseconds))
        append(littleEndian: stamp.counter)
        append(littleEndian: stamp.replica.rawValue)
    }
}

extension UnsafeRawBufferPointer {
    /// The stamp in the 20 bytes at `offset`, which must lie inside.
    package func stamp(at offset: Int) -> Stamp {
        Stamp(
            milliseconds: Int64(clamping: littleEndian(UInt64.self, at: offset)),
            counter: littleEndian(UInt32.self, at: offset + 8),
            replica: ReplicaID(rawValue: littleEndian(UInt64.self, at: offset + 12)))
    }

    /// The clock reading in the 12 bytes at `offset`, which must lie inside.
    fileprivate func reading(at offset: Int) -> HybridClock.Reading {
        HybridClock.Reading(
            milliseconds: littleEndian(Int64.self, at: offset),
            counter: littleEndian(UInt32.self, at: offset + 8))
    }

    /// The UTF-8 text in `range`; nil when it is not UTF-8.
    package func text(_ range: Range<Int>) -> String? {
        String(validating: UnsafeRawBufferPointer(rebasing: self[range]), as: UTF8.self)
    }
}
