/// The limits of a store, each with its unit in its name.
///
/// ```swift
/// let limits = StoreLimits(totalByteCount: 65_536, keyProfile: .classic)
/// let configuration = StoreConfiguration(directory: directory, limits: limits)
/// ```
public struct StoreLimits: Sendable, Equatable {
    /// Total bytes of all values; keys do not count. Data counts with its length, a string with its UTF-8 length,
    /// anything else with the length of its binary property list.
    public var totalByteCount: Int
    /// Bytes of one value, counted in the same way.
    public var valueByteCount: Int
    /// Keys that have a value.
    public var keyCount: Int
    public var keyProfile: KeyProfile

    public init(
        totalByteCount: Int = 1_048_576, valueByteCount: Int = 1_048_576, keyCount: Int = 1_024,
        keyProfile: KeyProfile = .standard
    ) {
        self.totalByteCount = totalByteCount
        self.valueByteCount = valueByteCount
        self.keyCount = keyCount
        self.keyProfile = keyProfile
    }

    /// The daemon rejects a change past these, whatever limits the replica has. It counts binary property lists; that
    /// of 1,048,576 bytes of data is 50 bytes longer.
    public static let ceiling = StoreLimits(totalByteCount: 4_194_304, valueByteCount: 1_048_576 + 64, keyCount: 4_096)
}

/// How the length of a key is counted.
///
/// For an example see `StoreKey`.
public enum KeyProfile: String, Sendable, Equatable, CaseIterable {
    /// At most 128 UTF-16 units.
    case standard
    /// At most 64 UTF-8 bytes, as Apple documents it.
    case classic

    public var limit: Int {
        switch self {
        case .standard: 128
        case .classic: 64
        }
    }

    public func length(of key: StoreKey) -> Int {
        switch self {
        case .standard: key.text.utf16.count
        case .classic: key.text.utf8.count
        }
    }

    package func allows(_ key: StoreKey) -> Bool {
        !key.text.isEmpty && length(of: key) <= limit
    }
}

/// Limits of the protocol, and of a property list that comes from outside.
package enum WireLimits {
    package static let requestByteCount = 2 * 1_024 * 1_024
    /// What a request or an answer carries before it is split into pages.
    package static let page = PageLimits(byteCount: 1_500_000, recordCount: 1_000)
    package static let storeNameByteCount = 128
    /// How far ahead of the daemon's clock a stamp may be, in milliseconds.
    package static let futureMilliseconds: Int64 = 60_000
    package static let propertyListDepth = 128
    package static let propertyListObjectCount = 1_048_576
    /// How many tombstones the daemon keeps per store, and for how long.
    package static let tombstoneCount = 4_096
    package static let tombstoneMilliseconds: Int64 = 90 * 86_400_000
}

/// How many records one message carries; it always carries at least one.
package struct PageLimits: Sendable, Equatable {
    /// Bytes of keys and base64 values.
    package var byteCount: Int
    package var recordCount: Int

    package init(byteCount: Int, recordCount: Int) {
        self.byteCount = byteCount
        self.recordCount = recordCount
    }
}
