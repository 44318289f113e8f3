// Shared by the logs of replicas and daemon and by the binary messages between them. Numbers are little-endian, texts
// UTF-8. A stamp takes 20 bytes: 8 milliseconds, 4 counter, 8 replica id. A cursor takes 16: 8 epoch, 8 sequence
// number.

extension [UInt8] {
    @inlinable
    package mutating func append(littleEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    package mutating func append(_ stamp: StoreStamp) {
        append(littleEndian: UInt64(stamp.milliseconds))
        append(littleEndian: stamp.counter)
        append(littleEndian: stamp.replica.rawValue)
    }

    /// Zeros stand for a missing cursor.
    package mutating func append(_ cursor: SyncCursor?) {
        append(littleEndian: cursor?.epoch.rawValue ?? 0)
        append(littleEndian: cursor?.sequence ?? 0)
    }
}

/// Offsets must lie inside.
extension UnsafeRawBufferPointer {
    @inlinable
    package func littleEndian<T: FixedWidthInteger & BitwiseCopyable>(
        _ type: T.Type, at offset: Int
    ) -> T {
        precondition(offset >= 0 && offset + MemoryLayout<T>.size <= count)
        return T(littleEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
    }

    package func stamp(at offset: Int) -> StoreStamp {
        StoreStamp(
            milliseconds: Int64(clamping: littleEndian(UInt64.self, at: offset)),
            counter: littleEndian(UInt32.self, at: offset + 8),
            replica: ReplicaID(rawValue: littleEndian(UInt64.self, at: offset + 12)))
    }

    package func cursor(at offset: Int) -> SyncCursor {
        SyncCursor(
            epoch: EpochID(rawValue: littleEndian(UInt64.self, at: offset)),
            sequence: littleEndian(UInt64.self, at: offset + 8))
    }

    /// Nil if the bytes are not UTF-8.
    package func key(_ range: Range<Int>) -> StoreKey? { text(range).map { StoreKey($0) } }

    package func text(_ range: Range<Int>) -> String? {
        String(validating: UnsafeRawBufferPointer(rebasing: self[range]), as: UTF8.self)
    }
}
