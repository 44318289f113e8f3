import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import KVStoreSealed

/// Which values of which store.
struct ValueOptions: ParsableArguments {
    @Flag(help: "Use the store's sealed values, which only devices with the content key can read; see kvs seal.")
    var sealed = false

    @OptionGroup var store: StoreOptions

    func values(
        of opened: OpenedStore, for purpose: SealedSession.Purpose = .reading(isFresh: false)
    ) async throws -> StoreValues {
        guard sealed else { return StoreValues(store: opened.store) }
        let session = try await SealedSession(store, for: purpose)
        return StoreValues(store: opened.store, sealed: try session.values(of: opened), session: session)
    }
}

/// The values of a store that a command means: the sealed ones, or the others. Open for the duration of the command.
struct StoreValues {
    let store: UbiquitousKeyValueStore
    var sealed: SealedStore?
    var session: SealedSession?

    func close() {
        session?.close()
        store.close()
    }

    var changes: AsyncStream<StoreChange> { sealed?.changes ?? store.changes }

    /// As the store has it; it may be one that cannot be opened.
    func record(forKey key: String) throws(StoreError) -> StoreRecord? {
        guard let sealed else { return store.record(forKey: key) }
        return try sealed.storedKey(of: key).flatMap { store.record(forKey: $0) }
    }

    /// The keys under which the store has them.
    func storedKeys(of keys: [String]) throws(StoreError) -> Set<String> {
        guard let sealed else { return Set(keys) }
        var storedKeys: Set<String> = []
        for key in keys { if let stored = try sealed.storedKey(of: key) { storedKeys.insert(stored) } }
        return storedKeys
    }

    /// The value as stored, or as it was before it was sealed; nil for a missing one.
    func bytes(forKey key: String) throws(StoreError) -> Data? {
        if let sealed { return try sealed.propertyList(forKey: key)?.encoded() }
        guard case .value(let bytes)? = store.record(forKey: key)?.content else { return nil }
        return bytes
    }

    typealias Entry = (key: String, record: StoreRecord, value: PropertyListValue?)

    /// Those whose keys begin so, by key; a value is nil if its bytes are not a property list. And what cannot be
    /// opened.
    func entries(withPrefix prefix: String) throws(StoreError) -> (entries: [Entry], problems: [StoreError]) {
        guard let sealed else {
            let entries = store.keys.filter { $0.hasPrefix(prefix) }.compactMap { key in
                store.record(forKey: key).map { (key, $0, store.propertyList(forKey: key)) }
            }
            return (entries, [])
        }
        let contents = try sealed.contents()
        let entries = contents.entries.filter { $0.key.hasPrefix(prefix) }.compactMap {
            key, entry -> Entry? in
            store.record(forKey: entry.storedKey).map { (key, $0, entry.value) }
        }
        return (entries.sorted { $0.key < $1.key }, contents.problems)
    }

    /// Sets a value, or removes the key with nil.
    func write(_ value: PropertyListValue?, forKey key: String) throws(StoreError) {
        if let sealed {
            try sealed.write(value, forKey: key)
        } else {
            try store.write(value, forKey: key)
        }
    }
}
