/// When and by whom a key was written: a hybrid logical clock reading and the writer's replica id.
///
/// Stamps are totally ordered by milliseconds, then counter, then replica. As text a stamp is
/// `mmmmmmmmmmmm-cccccccc-rrrrrrrrrrrrrrrr`: three lower-case hexadecimal numbers of fixed width, so
/// that comparing texts compares stamps.
public struct Stamp: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970-01-01 UTC, at most 48 bits.
    public var milliseconds: Int64
    public var counter: UInt32
    public var replica: ReplicaID

    public init(milliseconds: Int64, counter: UInt32, replica: ReplicaID) {
        self.milliseconds = min(max(milliseconds, 0), Self.greatestMilliseconds)
        self.counter = counter
        self.replica = replica
    }

    static let greatestMilliseconds: Int64 = (1 << 48) - 1

    public static func < (left: Stamp, right: Stamp) -> Bool {
        (left.milliseconds, left.counter, left.replica.rawValue)
            < (right.milliseconds, right.counter, right.replica.rawValue)
    }
}

/// The identity of one replica: one directory on one machine. It takes another one where stamps might be given
/// twice: after it was copied, damaged, or refused for its clock.
public struct ReplicaID: Sendable, Hashable {
    public var rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension ReplicaID: CustomStringConvertible {
    /// Sixteen lower-case hexadecimal digits.
    public var description: String { hexadecimal(rawValue, width: 16) }

    public init?(_ text: some StringProtocol) {
        guard let value = parseHexadecimal(text.utf8, width: 16) else { return nil }
        rawValue = value
    }
}

extension Stamp: CustomStringConvertible {
    public var description: String {
        hexadecimal(UInt64(milliseconds), width: 12) + "-" + hexadecimal(UInt64(counter), width: 8)
            + "-" + replica.description
    }

    /// Reads the text form; nil unless it has exactly that form.
    public init?(_ text: some StringProtocol) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 3,
            let milliseconds = parseHexadecimal(parts[0], width: 12),
            let counter = parseHexadecimal(parts[1], width: 8),
            let replica = parseHexadecimal(parts[2], width: 16)
        else { return nil }
        self.init(
            milliseconds: Int64(milliseconds), counter: UInt32(counter),
            replica: ReplicaID(rawValue: replica))
    }
}

private func hexadecimal(_ value: UInt64, width: Int) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

/// Exactly `width` lower-case digits, nothing else: one stamp has one text.
private func parseHexadecimal(_ text: some Collection<UInt8>, width: Int) -> UInt64? {
    guard text.count == width else { return nil }
    var value: UInt64 = 0
    for byte in text {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            value = value << 4 | UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"):
            value = value << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
        default: return nil
        }
    }
    return value
}
