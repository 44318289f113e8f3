import Foundation
import KVStoreCore

/// How often each program has written each key since settling began.
struct WriteCounts {
    struct Writer: Hashable {
        var label: String
        var key: String
    }

    /// No code that comes to rest writes one key so often while the cloud settles.
    static let limit = 10_000

    /// When counting began.
    let start: Date
    /// How often tasks that sleep on the cloud's clock woke.
    var wakeCount = 0
    private var counts: [Writer: Int] = [:]
    private(set) var greatest = 0

    init(since start: Date) { self.start = start }

    /// Ends at the limit: an observer that answers itself runs on while the error is composed.
    mutating func add(_ key: StoreKey, of label: String) {
        guard greatest < Self.limit else { return }
        let count = counts[Writer(label: label, key: key.text), default: 0] + 1
        counts[Writer(label: label, key: key.text)] = count
        greatest = max(greatest, count)
    }

    /// Those that wrote a key repeatedly, and at least half as often as the first of them; at most three.
    var leaders: [(writer: Writer, count: Int)] {
        let repeated = counts.filter { $0.value > 1 && $0.value * 2 >= greatest }
        let sorted = repeated.sorted {
            ($1.value, $0.key.label, $0.key.key) < ($0.value, $1.key.label, $1.key.key)
        }
        return sorted.prefix(3).map { ($0.key, $0.value) }
    }
}
