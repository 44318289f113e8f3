import Essentials
import KVStoreCore

// `docs/protocol.md` has the layout, `BinaryCoding.swift` that of stamps and cursors.

extension SyncRequest: BinaryMessage {
    private enum Flag {
        static let cursor: UInt8 = 1
        static let horizon: UInt8 = 2
    }

    package var binaryByteCount: Int {
        changes.reduce(13 + (since == nil ? 0 : 16) + (horizon == nil ? 0 : 8)) {
            $0 + $1.binaryByteCount
        }
    }

    package func write(to bytes: inout [UInt8]) {
        bytes.append((since == nil ? 0 : Flag.cursor) | (horizon == nil ? 0 : Flag.horizon))
        bytes.append(littleEndian: replica.rawValue)
        if let since { bytes.append(since) }
        if let horizon { bytes.append(littleEndian: horizon) }
        bytes.append(littleEndian: UInt32(changes.count))
        for change in changes { change.write(to: &bytes) }
    }

    package init(from reader: inout BinaryReader) throws(WireError) {
        let flags = try reader.flags("flags", known: Flag.cursor | Flag.horizon)
        self.init(
            replica: ReplicaID(rawValue: try reader.number(UInt64.self, "replica")),
            since: flags & Flag.cursor == 0 ? nil : try reader.cursor("since"),
            horizon: flags & Flag.horizon == 0 ? nil : try reader.number(in: WireNumber.sequence, "horizon"),
            changes: try reader.list("changes", leastByteCount: StoreRecord.leastByteCount) {
                reader throws(WireError) in
                try StoreRecord(from: &reader)
            })
    }
}

extension SyncResponse: BinaryMessage {
    private enum Flag {
        static let initial: UInt8 = 1
        static let more: UInt8 = 2
    }

    package var binaryByteCount: Int {
        var count = 41 + (isInitial ? 4 + 16 * lineage.count : 0)
        for change in changes { count += 8 + change.record.binaryByteCount }
        for rejection in rejections { count += rejection.binaryByteCount }
        return count
    }

    package func write(to bytes: inout [UInt8]) {
        bytes.append((isInitial ? Flag.initial : 0) | (hasMore ? Flag.more : 0))
        bytes.append(cursor)
        bytes.append(littleEndian: serverTime)
        bytes.append(littleEndian: horizon)
        if isInitial {
            bytes.append(littleEndian: UInt32(lineage.count))
            for end in lineage { bytes.append(end) }
        }
        bytes.append(littleEndian: UInt32(changes.count))
        for change in changes {
            bytes.append(littleEndian: change.sequence)
            change.record.write(to: &bytes)
        }
        bytes.append(littleEndian: UInt32(rejections.count))
        for rejection in rejections { rejection.write(to: &bytes) }
    }

    package init(from reader: inout BinaryReader) throws(WireError) {
        let flags = try reader.flags("flags", known: Flag.initial | Flag.more)
        let isInitial = flags & Flag.initial != 0
        self.init(
            cursor: try reader.cursor("cursor"),
            serverTime: try reader.number(in: WireNumber.milliseconds, "serverTime"), isInitial: isInitial,
            hasMore: flags & Flag.more != 0)
        horizon = try reader.number(in: WireNumber.sequence, "horizon")
        if isInitial {
            lineage = try reader.list("lineage", leastByteCount: 16) { reader throws(WireError) in
                try reader.cursor("end")
            }
        }
        changes = try reader.list("changes", leastByteCount: 8 + StoreRecord.leastByteCount) {
            reader throws(WireError) in
            let sequence = try reader.number(in: WireNumber.sequence, "seq")
            return SequencedRecord(record: try StoreRecord(from: &reader), sequence: sequence)
        }
        rejections = try reader.list("rejected", leastByteCount: SyncRejection.leastByteCount) {
            reader throws(WireError) in try SyncRejection(from: &reader)
        }
    }
}

extension StoreRecord {
    /// In place of a value's length.
    private static let tombstoneMark = UInt32.max
    fileprivate static let leastByteCount = 28

    fileprivate var binaryByteCount: Int {
        Self.leastByteCount + key.text.utf8.count + content.byteCount
    }

    fileprivate func write(to bytes: inout [UInt8]) {
        bytes.append(stamp)
        bytes.append(littleEndian: UInt32(key.text.utf8.count))
        switch content {
        case .tombstone:
            bytes.append(littleEndian: Self.tombstoneMark)
            bytes.append(contentsOf: key.text.utf8)
        case .value(let data):
            bytes.append(littleEndian: UInt32(data.count))
            bytes.append(contentsOf: key.text.utf8)
            bytes.append(contentsOf: data)
        }
    }

    fileprivate init(from reader: inout BinaryReader) throws(WireError) {
        let stamp = try reader.stamp("stamp")
        let keyByteCount = try reader.number(UInt32.self, "key")
        let valueByteCount = try reader.number(UInt32.self, "value")
        let key = try reader.key(keyByteCount, "key")
        self.init(
            key: key, stamp: stamp,
            content: valueByteCount == Self.tombstoneMark
                ? .tombstone : .value(try reader.data(valueByteCount, "value")))
    }
}

extension SyncRejection {
    private enum ReasonCode: UInt8 {
        case clock = 1
        case clockWithPresent
        case quota, key, again
    }

    fileprivate static let leastByteCount = 25

    fileprivate var binaryByteCount: Int {
        let reasonByteCount =
            switch reason {
            case .clock(_, nil), .quota, .key: 8
            case .clock: 28
            case .again: 0
            }
        return Self.leastByteCount + key.text.utf8.count + reasonByteCount
    }

    fileprivate func write(to bytes: inout [UInt8]) {
        bytes.append(stamp)
        bytes.append(littleEndian: UInt32(key.text.utf8.count))
        bytes.append(contentsOf: key.text.utf8)
        func append(_ code: ReasonCode, limit: Int64) {
            bytes.append(code.rawValue)
            bytes.append(littleEndian: limit)
        }
        switch reason {
        case .clock(let limit, nil): append(.clock, limit: limit)
        case .clock(let limit, let present?):
            append(.clockWithPresent, limit: limit)
            bytes.append(present)
        case .quota(let limit): append(.quota, limit: Int64(limit))
        case .key(let limit): append(.key, limit: Int64(limit))
        case .again: bytes.append(ReasonCode.again.rawValue)
        }
    }

    fileprivate init(from reader: inout BinaryReader) throws(WireError) {
        let stamp = try reader.stamp("stamp")
        let key = try reader.key(try reader.number(UInt32.self, "key"), "key")
        guard let code = ReasonCode(rawValue: try reader.number(UInt8.self, "reason")) else {
            throw reader.invalid("reason")
        }
        func limit(_ range: ClosedRange<Int64>) throws(WireError) -> Int64 {
            try reader.number(in: range, "limit")
        }
        let reason: Reason =
            switch code {
            case .clock: .clock(limit: try limit(WireNumber.milliseconds), present: nil)
            case .clockWithPresent:
                .clock(limit: try limit(WireNumber.milliseconds), present: try reader.stamp("present"))
            case .quota: .quota(limit: Int(clamping: try limit(WireNumber.count)))
            case .key: .key(limit: Int(clamping: try limit(WireNumber.count)))
            case .again: .again
            }
        self.init(key: key, stamp: stamp, reason: reason)
    }
}
