import Essentials

/// A key of a store.
///
/// Two keys are equal when their UTF-8 bytes are, as `NSString` compares: `"e\u{301}"` and `"\u{e9}"` are two keys,
/// although Swift calls the two strings equal.
///
/// ```swift
/// let key: StoreKey = "theme"
/// print(KeyProfile.classic.length(of: key) <= KeyProfile.classic.limit)
/// ```
public struct StoreKey: Sendable {
    public let text: String

    public init(_ text: String) {
        var text = text
        text.makeContiguousUTF8()
        self.text = text
    }

    private func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        guard let result = text.utf8.withContiguousStorageIfAvailable(body) else {
            preconditionFailure("the text was made contiguous")
        }
        return result
    }
}

extension StoreKey: Hashable, Comparable {
    public static func == (left: StoreKey, right: StoreKey) -> Bool {
        left.text.utf8.count == right.text.utf8.count
            && left.withBytes { bytes in
                bytes.isEmpty
                    || right.withBytes {
                        memcmp(bytes.baseAddress!, $0.baseAddress!, bytes.count) == 0
                    }
            }
    }

    public func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The order of the UTF-8 bytes.
    public static func < (left: StoreKey, right: StoreKey) -> Bool {
        left.withBytes { bytes in right.withBytes { bytes.lexicographicallyPrecedes($0) } }
    }
}

extension StoreKey: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral text: String) { self.init(text) }

    public var description: String { text }
}
