import Foundation
import KVStoreCore

/// Keys and values that look alike in every run.
enum Values {
    static func key(_ index: Int) -> StoreKey { StoreKey("settings.window.\(index)") }

    /// A different value for each number.
    static func bytes(_ count: Int, number: Int) -> Data {
        var random = SplitMix64(seed: UInt64(number))
        var bytes = Data(capacity: count + 8)
        while bytes.count < count {
            withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) }
        }
        return bytes.prefix(count)
    }
}
