import Essentials
package import KVStoreCore
import KVStoreLog

/// What the daemon keeps on disk: one of these in each frame of its log.
enum LedgerEntry: Equatable {
    case record(StoreID, SequencedRecord)
    case state(StoreID, Hub.State)
    /// A tombstone is forgotten.
    case forgotten(StoreID, StoreKey)
    /// A store is removed with all its records; the state is what a store of this name continues from.
    case removed(StoreID, Hub.State)
}

// The payload of a frame in the daemon's log; `BinaryCoding.swift` says how stamps are written.
//
// Every payload starts with the store: 0 1 bytes of the account · 1 1 bytes of the store's name · the two texts. Then:
//
// Kind 1, a key:       8 sequence number · 20 stamp · 1 flags (4 removed) · 2 bytes of the key · the key, the value
// Kind 2, a store:     8 last sequence number · 8 horizon · 8 greatest milliseconds of a stamp · for each epoch, oldest
//                      first: 8 epoch · 8 the sequence number before it · 1 flags (1 broken)
// Kind 3, forgotten:   the key
// Kind 4, removed:     as kind 2; the records before it do not count any more
extension LedgerEntry {
    private enum Kind {
        static let record: UInt8 = 1
        static let state: UInt8 = 2
        static let forgotten: UInt8 = 3
        static let removed: UInt8 = 4
    }

    private static let epochByteCount = 17

    var payload: LogPayload {
        switch self {
        case .record(let store, let entry):
            let key = entry.record.key.text.utf8
            var bytes = Self.start(store, reserving: 31 + key.count + entry.record.content.byteCount)
            bytes.append(littleEndian: entry.sequence)
            bytes.append(entry.record.stamp)
            bytes.append(entry.record.content.isTombstone ? 4 : 0)
            bytes.append(littleEndian: UInt16(key.count))
            bytes.append(contentsOf: key)
            if case .value(let data) = entry.record.content { bytes.append(contentsOf: data) }
            return LogPayload(kind: Kind.record, bytes: bytes)
        case .state(let store, let state): return LogPayload(kind: Kind.state, bytes: Self.bytes(of: state, of: store))
        case .removed(let store, let state):
            return LogPayload(kind: Kind.removed, bytes: Self.bytes(of: state, of: store))
        case .forgotten(let store, let key):
            let key = key.text.utf8
            var bytes = Self.start(store, reserving: key.count)
            bytes.append(contentsOf: key)
            return LogPayload(kind: Kind.forgotten, bytes: bytes)
        }
    }

    private static func bytes(of state: Hub.State, of store: StoreID) -> [UInt8] {
        var bytes = start(store, reserving: 24 + epochByteCount * state.epochs.count)
        append(state, to: &bytes)
        return bytes
    }

    fileprivate static func append(_ state: Hub.State, to bytes: inout [UInt8]) {
        bytes.append(littleEndian: state.sequence)
        bytes.append(littleEndian: state.horizon)
        bytes.append(littleEndian: state.clockMilliseconds)
        for epoch in state.epochs {
            bytes.append(littleEndian: epoch.id.rawValue)
            bytes.append(littleEndian: epoch.start)
            bytes.append(epoch.isBroken ? 1 : 0)
        }
    }

    private static func start(_ store: StoreID, reserving byteCount: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 + store.byteCount + byteCount)
        bytes.append(UInt8(store.account.utf8.count))
        bytes.append(UInt8(store.name.utf8.count))
        bytes.append(contentsOf: store.account.utf8)
        bytes.append(contentsOf: store.name.utf8)
        return bytes
    }

    static func frameByteCount(_ entry: SequencedRecord, of store: StoreID) -> Int {
        FrameFormat.byteCount(
            payload: 33 + store.byteCount + entry.record.key.text.utf8.count + entry.record.content.byteCount)
    }

    static func frameByteCount(_ state: Hub.State, of store: StoreID) -> Int {
        FrameFormat.byteCount(payload: 26 + store.byteCount + epochByteCount * state.epochs.count)
    }

    /// Nil for bytes that this version does not write.
    init?(_ frame: LogFrame) {
        let bytes = frame.payload
        guard let (store, start) = Self.store(in: bytes) else { return nil }
        switch frame.kind {
        case Kind.record:
            guard let (key, keyEnd) = Self.key(in: bytes, from: start) else { return nil }
            let content: StoreRecord.Content = bytes[start + 28] & 4 != 0 ? .tombstone : .value(Data(bytes[keyEnd...]))
            self = .record(
                store,
                SequencedRecord(
                    record: StoreRecord(key: key, stamp: bytes.stamp(at: start + 8), content: content),
                    sequence: bytes.littleEndian(UInt64.self, at: start)))
        case Kind.state, Kind.removed:
            guard let state = Self.state(in: bytes, from: start) else { return nil }
            self = frame.kind == Kind.state ? .state(store, state) : .removed(store, state)
        case Kind.forgotten:
            guard let key = bytes.key(start..<bytes.count) else { return nil }
            self = .forgotten(store, key)
        default: return nil
        }
    }

    fileprivate static func state(in bytes: UnsafeRawBufferPointer, from start: Int) -> Hub.State? {
        let epochStart = start + 24
        guard bytes.count > epochStart, (bytes.count - epochStart).isMultiple(of: epochByteCount) else { return nil }
        let epochs = stride(from: epochStart, to: bytes.count, by: epochByteCount).map {
            Hub.Epoch(
                id: EpochID(rawValue: bytes.littleEndian(UInt64.self, at: $0)),
                start: bytes.littleEndian(UInt64.self, at: $0 + 8), isBroken: bytes[$0 + 16] & 1 != 0)
        }
        return Hub.State(
            epochs: epochs, sequence: bytes.littleEndian(UInt64.self, at: start),
            horizon: bytes.littleEndian(UInt64.self, at: start + 8),
            clockMilliseconds: bytes.littleEndian(Int64.self, at: start + 16))
    }

    /// What a frame is about, without the value.
    enum Subject: Equatable {
        case record(StoreID, StoreKey)
        case state(StoreID)
        case forgotten
    }

    /// Nil for bytes that this version does not write.
    static func subject(of frame: LogFrame) -> Subject? {
        guard let (store, start) = store(in: frame.payload) else { return nil }
        switch frame.kind {
        case Kind.record: return key(in: frame.payload, from: start).map { .record(store, $0.key) }
        case Kind.state, Kind.removed: return .state(store)
        case Kind.forgotten: return .forgotten
        default: return nil
        }
    }

    /// The store that a payload starts with, and the offset after it.
    private static func store(in bytes: UnsafeRawBufferPointer) -> (id: StoreID, end: Int)? {
        guard bytes.count >= 2 else { return nil }
        let nameStart = 2 + Int(bytes[0])
        let end = nameStart + Int(bytes[1])
        guard end <= bytes.count, let account = bytes.text(2..<nameStart),
            let name = bytes.text(nameStart..<end)
        else { return nil }
        return (StoreID(account: account, name: name), end)
    }

    /// A record's key, and where its value starts.
    private static func key(in bytes: UnsafeRawBufferPointer, from start: Int) -> (key: StoreKey, end: Int)? {
        guard bytes.count >= start + 31 else { return nil }
        let keyStart = start + 31
        let end = keyStart + Int(bytes.littleEndian(UInt16.self, at: start + 29))
        guard end <= bytes.count, let key = bytes.key(keyStart..<end) else { return nil }
        return (key, end)
    }
}

extension Hub.State {
    /// As in kind 2, without the store.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        LedgerEntry.append(self, to: &bytes)
        return bytes
    }

    /// Nil for bytes that this version does not write.
    package init?(encoded bytes: UnsafeRawBufferPointer) {
        guard let state = LedgerEntry.state(in: bytes, from: 0) else { return nil }
        self = state
    }
}

extension StoreID {
    fileprivate var byteCount: Int { account.utf8.count + name.utf8.count }
}
