/// A random 64-bit identifier, written as sixteen lower-case hexadecimal digits.
///
/// For an example see `ReplicaID`.
public protocol HexadecimalIdentifier: Sendable, Hashable, LosslessStringConvertible {
    var rawValue: UInt64 { get }
    init(rawValue: UInt64)
}

extension HexadecimalIdentifier {
    public var description: String { hexadecimal(rawValue, width: 16) }

    /// Nil unless the text has exactly that form.
    public init?(_ description: String) {
        guard let value = parseHexadecimal(description.utf8, width: 16) else { return nil }
        self.init(rawValue: value)
    }
}

/// The identity of one replica: one directory on one machine. A replica takes a new one whenever it might
/// otherwise issue a stamp twice: after it was copied, damaged, or refused for its clock.
///
/// ```swift
/// let isMine = store.record(forKey: "theme")?.stamp.replica == store.status.replica
/// ```
public struct ReplicaID: HexadecimalIdentifier {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Names a part of a store's history on the daemon. Each start of the daemon begins a new one with the first
/// change, so a sequence number that was issued twice, before and after an older copy of the files was put back,
/// belongs to two epochs.
///
/// For an example see `SyncTransport`.
public struct EpochID: HexadecimalIdentifier {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }
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

func hexadecimal(_ value: UInt64, width: Int) -> String {
    String(unsafeUninitializedCapacity: width) {
        $0.writeHexadecimal(value, at: 0..<width)
        return width
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    func writeHexadecimal(_ value: UInt64, at range: Range<Int>) {
        var (rest, index) = (value, range.upperBound)
        while index > range.lowerBound {
            index -= 1
            let digit = UInt8(rest & 15)
            self[index] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            rest >>= 4
        }
    }
}

/// Nil unless the text is exactly `width` lower-case digits, so that a value has one text.
func parseHexadecimal(_ text: some Collection<UInt8>, width: Int) -> UInt64? {
    guard text.count == width else { return nil }
    var value: UInt64 = 0
    for byte in text {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
        default: return nil
        }
    }
    return value
}
