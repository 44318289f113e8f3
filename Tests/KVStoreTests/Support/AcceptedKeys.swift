import Synchronization

/// Keys whose writes have been accepted, noted from many threads.
final class AcceptedKeys: Sendable {
    private let keys = Mutex<Set<String>>([])

    /// Returns how many there are now.
    func insert(_ key: String) -> Int {
        keys.withLock { keys in
            keys.insert(key)
            return keys.count
        }
    }

    var all: Set<String> { keys.withLock { $0 } }
}
