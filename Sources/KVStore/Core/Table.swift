/// All keys of a replica, with the counters that the quota needs.
///
/// Invariant: `byteCount` and `keyCount` equal a recount over the keys that have a value.
struct Table: Sendable, Equatable {
    /// How far a record has come on its way to the daemon.
    enum Mark: UInt8, Sendable {
        /// The daemon has it.
        case settled = 0
        /// Written here, to be sent.
        case pending = 1
        /// Written here before the first download; whatever the daemon has under the key wins.
        case provisional = 2
    }

    struct Entry: Sendable, Equatable {
        var record: Record
        var mark: Mark
    }

    private(set) var entries: [String: Entry] = [:]
    private(set) var byteCount = 0
    private(set) var keyCount = 0
    private(set) var pendingKeys: Set<String> = []

    subscript(key: String) -> Entry? { entries[key] }

    /// The visible value's content; nil for a key that is missing or removed.
    func content(forKey key: String) -> Record.Content? {
        guard let content = entries[key]?.record.content, !content.isTombstone else { return nil }
        return content
    }

    /// Puts an entry in its key's place; returns whether the visible value is another now.
    @discardableResult
    mutating func put(_ entry: Entry) -> Bool {
        let key = entry.record.key
        let old = entries.updateValue(entry, forKey: key)
        if entry.mark == .settled { pendingKeys.remove(key) } else { pendingKeys.insert(key) }
        count(old?.record.content, by: -1)
        count(entry.record.content, by: 1)
        return (old?.record.content ?? .tombstone) != entry.record.content
    }

    mutating func mark(_ key: String, _ mark: Mark) {
        guard var entry = entries[key] else { return }
        entry.mark = mark
        put(entry)
    }

    private mutating func count(_ content: Record.Content?, by sign: Int) {
        guard case .value(let data) = content else { return }
        byteCount += sign * data.count
        keyCount += sign
    }
}
