import Foundation

/// What the daemon keeps on disk: one of these in each frame of its log.
enum HubEntry: Equatable {
    case record(StoreID, Hub.Entry)
    /// A store's epochs, last sequence number, horizon and greatest stamp.
    case store(StoreID, State)
    /// A tombstone has been dropped.
    case forgotten(StoreID, key: String)

    struct State: Equatable {
        var epochs: [Hub.Epoch]
        var sequence: UInt64
        var horizon: UInt64
        var clockMilliseconds: Int64

        init(
            epochs: [Hub.Epoch], sequence: UInt64 = 0, horizon: UInt64 = 0,
            clockMilliseconds: Int64 = 0
        ) {
            self.epochs = epochs
            self.sequence = sequence
            self.horizon = horizon
            self.clockMilliseconds = clockMilliseconds
        }

        init(_ hub: Hub) {
            self.init(
                epochs: hub.epochs, sequence: hub.sequence, horizon: hub.horizon,
                clockMilliseconds: hub.clockMilliseconds)
        }
    }
}

/// A store of an account.
package struct StoreID: Sendable, Hashable, Comparable {
    package var account: String
    package var name: String

    package init(account: String, name: String) {
        self.account = account
        self.name = name
    }

    package static func < (left: StoreID, right: StoreID) -> Bool {
        (left.account, left.name) < (right.account, right.name)
    }
}

// The payload of a frame in the daemon's log. Numbers are little-endian, texts UTF-8.
//
// Every payload starts with the store: 0 1 bytes of the account · 1 1 bytes of the store's name · the two texts. Then:
//
// Kind 1, a key:       8 sequence number · 20 stamp · 1 flags (4 removed) · 2 bytes of the key · the key, the value
// Kind 2, a store:     8 last sequence number · 8 horizon · 8 greatest milliseconds of a stamp · for each epoch, oldest
//                      first: 8 the sequence number before it · 1 flags (1 broken) · 1 bytes of its name · the name
// Kind 3, forgotten:   the key
extension HubEntry {
    private enum Kind {
        static let record: UInt8 = 1
        static let store: UInt8 = 2
        static let forgotten: UInt8 = 3
    }

    var payload: LogPayload {
        switch self {
        case .record(let store, let entry):
            let key = Array(entry.record.key.utf8)
            var bytes = Self.start(
                store, reserving: 31 + key.count + entry.record.content.byteCount)
            bytes.append(littleEndian: entry.sequence)
            bytes.append(stamp: entry.record.stamp)
            bytes.append(entry.record.content.isTombstone ? 4 : 0)
            bytes.append(littleEndian: UInt16(key.count))
            bytes.append(contentsOf: key)
            if case .value(let data) = entry.record.content { bytes.append(contentsOf: data) }
            return LogPayload(kind: Kind.record, bytes: bytes)
        case .store(let store, let state):
            var bytes = Self.start(store)
            bytes.append(littleEndian: state.sequence)
            bytes.append(littleEndian: state.horizon)
            bytes.append(littleEndian: state.clockMilliseconds)
            for epoch in state.epochs {
                bytes.append(littleEndian: epoch.start)
                bytes.append(epoch.isBroken ? 1 : 0)
                bytes.append(UInt8(epoch.id.utf8.count))
                bytes.append(contentsOf: epoch.id.utf8)
            }
            return LogPayload(kind: Kind.store, bytes: bytes)
        case .forgotten(let store, let key):
            return LogPayload(kind: Kind.forgotten, bytes: Self.start(store) + Array(key.utf8))
        }
    }

    /// - Parameter byteCount: how many bytes will follow, where that is known.
    private static func start(_ store: StoreID, reserving byteCount: Int = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(
            2 + store.account.utf8.count + store.name.utf8.count + byteCount)
        bytes.append(UInt8(store.account.utf8.count))
        bytes.append(UInt8(store.name.utf8.count))
        bytes.append(contentsOf: store.account.utf8)
        bytes.append(contentsOf: store.name.utf8)
        return bytes
    }

    /// Nil for bytes that no version of this program writes.
    init?(_ frame: LogFrame) {
        let bytes = frame.payload
        guard let (store, start) = Self.store(in: bytes) else { return nil }
        switch frame.kind {
        case Kind.record:
            guard let (key, keyEnd) = Self.key(in: bytes, from: start) else { return nil }
            let content: Record.Content =
                bytes[start + 28] & 4 != 0 ? .tombstone : .value(Data(bytes[keyEnd...]))
            let record = Record(key: key, stamp: bytes.stamp(at: start + 8), content: content)
            self = .record(
                store,
                Hub.Entry(record: record, sequence: bytes.littleEndian(UInt64.self, at: start)))
        case Kind.store:
            guard bytes.count > start + 24, let epochs = Self.epochs(in: bytes, from: start + 24)
            else { return nil }
            self = .store(
                store,
                State(
                    epochs: epochs, sequence: bytes.littleEndian(UInt64.self, at: start),
                    horizon: bytes.littleEndian(UInt64.self, at: start + 8),
                    clockMilliseconds: bytes.littleEndian(Int64.self, at: start + 16)))
        case Kind.forgotten:
            guard let key = bytes.text(start..<bytes.count) else { return nil }
            self = .forgotten(store, key: key)
        default: return nil
        }
    }

    /// What a frame is about, without the value.
    enum Subject: Equatable {
        case record(StoreID, key: String)
        case store(StoreID)
        case forgotten
    }

    /// Nil for bytes that no version of this program writes.
    static func subject(of frame: LogFrame) -> Subject? {
        guard let (store, start) = store(in: frame.payload) else { return nil }
        switch frame.kind {
        case Kind.record:
            return key(in: frame.payload, from: start).map { .record(store, key: $0.text) }
        case Kind.store: return .store(store)
        case Kind.forgotten: return .forgotten
        default: return nil
        }
    }

    /// The store that a payload starts with, and where it goes on.
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
    private static func key(
        in bytes: UnsafeRawBufferPointer, from start: Int
    ) -> (text: String, end: Int)? {
        guard bytes.count >= start + 31 else { return nil }
        let keyStart = start + 31
        let end = keyStart + Int(bytes.littleEndian(UInt16.self, at: start + 29))
        guard end <= bytes.count, let text = bytes.text(keyStart..<end) else { return nil }
        return (text, end)
    }

    private static func epochs(
        in bytes: UnsafeRawBufferPointer, from start: Int
    ) -> [Hub.Epoch]? {
        var epochs: [Hub.Epoch] = []
        var place = start
        while place < bytes.count {
            guard place + 10 <= bytes.count else { return nil }
            let end = place + 10 + Int(bytes[place + 9])
            guard end <= bytes.count, let id = bytes.text(place + 10..<end) else { return nil }
            epochs.append(
                Hub.Epoch(
                    id: id, start: bytes.littleEndian(UInt64.self, at: place),
                    isBroken: bytes[place + 8] & 1 != 0))
            place = end
        }
        return epochs
    }
}
