/// When and by which replica a key was written: a hybrid logical clock reading and the writer's id.
///
/// Stamps are totally ordered by milliseconds, then counter, then replica. The text form is
/// `mmmmmmmmmmmm-cccccccc-rrrrrrrrrrrrrrrr`: three lower-case hexadecimal numbers of fixed width, so
/// that texts sort as stamps do.
///
/// For an example see `StoreRecord`.
public struct StoreStamp: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970-01-01 UTC, at most 48 bits.
    public var milliseconds: Int64
    public var counter: UInt32
    public var replica: ReplicaID

    public init(milliseconds: Int64, counter: UInt32, replica: ReplicaID) {
        self.milliseconds = min(max(milliseconds, 0), Self.greatestMilliseconds)
        self.counter = counter
        self.replica = replica
    }

    package static let greatestMilliseconds: Int64 = (1 << 48) - 1

    public static func < (left: StoreStamp, right: StoreStamp) -> Bool {
        (left.milliseconds, left.counter, left.replica.rawValue)
            < (right.milliseconds, right.counter, right.replica.rawValue)
    }
}

extension StoreStamp: LosslessStringConvertible {
    public var description: String {
        String(unsafeUninitializedCapacity: 38) { text in
            text.writeHexadecimal(UInt64(milliseconds), at: 0..<12)
            text[12] = UInt8(ascii: "-")
            text.writeHexadecimal(UInt64(counter), at: 13..<21)
            text[21] = UInt8(ascii: "-")
            text.writeHexadecimal(replica.rawValue, at: 22..<38)
            return 38
        }
    }

    /// Nil unless the text has exactly the text form.
    public init?(_ description: String) {
        let parts = description.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 3, let milliseconds = parseHexadecimal(parts[0], width: 12),
            let counter = parseHexadecimal(parts[1], width: 8), let replica = parseHexadecimal(parts[2], width: 16)
        else { return nil }
        self.init(milliseconds: Int64(milliseconds), counter: UInt32(counter), replica: ReplicaID(rawValue: replica))
    }
}
