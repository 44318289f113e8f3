import Essentials
public import KVStoreEssentials
import LocalFiles
import Synchronization

/// This device's content keys, which the account's devices hand on to each other through a store of their own.
///
/// A key reaches a new device only by words that its user carries over; afterwards the devices give each other every
/// new key, sealed for each. The daemon has none of them. Calls block; any thread may make them.
///
/// ```swift
/// let account = SealedAccount(keys)     // the account's store of the name SealedAccount.storeName
/// try account.createKey(deviceNamed: "desk")
/// let notes = try SealedStore(store, of: account)
/// try notes.write(.string("milk"), forKey: "list")
/// ```
public final class SealedAccount: Sendable {
    /// The store by which devices hand on keys.
    public static let storeName = KeyDirectory.storeName

    private let store: UbiquitousKeyValueStore
    private let cache = Cache()
    private let follower: Task<Void, Never>
    private let files: SealingFiles

    private final class Cache: Sendable {
        private struct State {
            /// Nil before the keyring has been read, and after the store has changed.
            var ring: Keyring?
            var changeCount = 0
        }

        private let state = Mutex(State())

        var ring: Keyring? { state.withLock { $0.ring } }
        var changeCount: Int { state.withLock { $0.changeCount } }

        func invalidate() {
            state.withLock { state in
                state.ring = nil
                state.changeCount += 1
            }
        }

        /// Keeps a keyring unless the store has changed since it was read.
        func keep(_ ring: Keyring?, since changeCount: Int) {
            state.withLock { if $0.changeCount == changeCount { $0.ring = ring } }
        }
    }

    /// - Parameter store: the account's store named `storeName`. The keyring is a file in its directory.
    public convenience init(_ store: UbiquitousKeyValueStore) { self.init(store, SealingFiles()) }

    package init(_ store: UbiquitousKeyValueStore, _ files: SealingFiles) {
        self.store = store
        self.files = files
        let (changes, cache) = (store.changes, cache)
        follower = Task { for await _ in changes { cache.invalidate() } }
    }

    deinit { follower.cancel() }

    private var milliseconds: Int64 { files.now() }

    // MARK: Keys

    /// Creates the account's first content key.
    ///
    /// - Throws: `refused` if this device has a key, or another device has announced one, unless `isAnother` is true.
    public func createKey(deviceNamed name: String, isAnother: Bool = false) throws(StoreError) {
        try update { ring, directory throws(StoreError) in
            if let current = ring?.current {
                throw failure(
                    .refused, "create", "this device has the content key \(current.id) already",
                    hint: "to replace it, rotate the key")
            }
            if !isAnother, let (id, known) = directory.announcements.max(by: { $0.value.created < $1.value.created }) {
                throw failure(
                    .refused, "create", "the account has the content key \(id) already, created by \(known.name)",
                    hint: "enter its words instead")
            }
            var made = ring ?? Keyring(name: name)
            made.use(.random(created: milliseconds))
            ring = made
        }
    }

    /// Takes over a key by its words, as another device shows them; with a key of its own already, this device unites
    /// both under a new one.
    ///
    /// - Parameters:
    ///   - words: twelve, as `recoveryWords` returns them, in any case and with or without numbers.
    ///   - name: of this device, for users of the others.
    ///   - isRestored: whether a key that no device has announced is meant: the words are of a recovery sheet, and the
    ///     daemon has
    ///     lost the account's keys.
    /// - Throws: `invalidValue` for words that are none; `refused` for a key that has been replaced, and for one that
    ///   is unknown.
    public func join(words: String, deviceNamed name: String, isRestored: Bool = false) throws(StoreError) {
        let secret: Data
        do throws(RecoveryWords.Failure) {
            secret = try RecoveryWords.secret(from: words)
        } catch {
            throw failure(.invalidValue, "read", "\(error)", hint: "compare it with the other device")
        }
        try update { ring, directory throws(StoreError) in
            guard var key = ContentKey(secret: secret, created: milliseconds)
            else { preconditionFailure("twelve words have 16 bytes") }
            let announcement = directory.announcements[key.id]
            if let (id, next) = directory.announcements.first(where: {
                $1.created > announcement?.created ?? .min && $1.isAuthentic(of: $0, by: key) && $0 != key.id
            }), ring?[id] == nil {
                throw failure(
                    .refused, "join", "\(next.name) has replaced this key by \(id)", hint: "enter the words of that one"
                )
            }
            guard announcement != nil || isRestored else {
                throw failure(
                    .refused, "join", "no device of this account has announced the key \(key.id)",
                    hint: "synchronize first, and compare account and words with the other device")
            }
            if let announcement { key.created = announcement.created }
            guard announcement?.isAuthentic(of: key.id, by: key) ?? true else {
                throw failure(
                    .notAuthentic, "join", "someone without the key \(key.id) has changed its announcement",
                    hint: "rotate the key on the other device, and enter the new words")
            }
            var joined = ring ?? Keyring(name: name)
            let removed = announcement?.removedDevices ?? []
            if removed.contains(joined.device) { joined = Keyring(renewing: joined) }
            let own = joined.current.map { ($0, joined.removals[$0.id] ?? []) }
            let isNext = announcement.map { announcement in
                joined.keys.contains { announcement.isAuthentic(of: key.id, by: $0) }
            }
            joined.use(key, without: removed)
            joined.learnMembers(directory, having: key)
            if let own, own.0 != key, isNext != true {
                joined.use(own.0, without: own.1)
                let (id, united) = joined.announceKey(removing: [], now: milliseconds)
                try announce(united, id)
            }
            ring = joined
        }
    }

    /// Replaces the present key: values are sealed with the new one from now on, and devices that are left out cannot
    /// open them. What they could read before, they may have kept.
    ///
    /// `SealedStore.reseal` then seals what a store already has.
    public func rotateKey(without removed: Set<SealingDeviceID> = []) throws(StoreError) {
        try update { ring, directory throws(StoreError) in
            guard let present = ring, present.current != nil else { throw noKey("rotate") }
            for id in removed where present.members[id] == nil {
                throw failure(.refused, "rotate", "no device \(id) has the present key", hint: nil)
            }
            let (id, announcement) = present.announceKey(removing: removed, now: milliseconds)
            try announce(announcement, id)
            for id in removed {
                try store.write(nil, forKey: KeyDirectory.place(KeyDirectory.devicePrefix, id).storedKey)
            }
        }
    }

    /// The words of the present key: whoever has them can read everything, now and later. For a new device, and for a
    /// sheet of paper in a safe place.
    public func recoveryWords() throws(StoreError) -> [String] {
        guard let current = try keyring()?.current else { throw noKey("show") }
        return RecoveryWords.words(of: current.secret)
    }

    // MARK: Keyring

    func keyring() throws(StoreError) -> Keyring? {
        if let ring = cache.ring { return ring }
        return try refresh()
    }

    /// Reads the keyring again, and adopts what other devices have announced.
    @discardableResult
    func refresh() throws(StoreError) -> Keyring? {
        try update(isChange: false) { _, _ in }
    }

    /// The keyring, and what the store says of keys.
    func known() throws(StoreError) -> (Keyring?, KeyDirectory) { (try refresh(), directory()) }

    /// Adopts what others have announced, changes the keyring under the lock of all processes, and publishes what
    /// follows.
    ///
    /// Without a change, what cannot be kept or published now is when the keyring is read next: that is no reason not
    /// to open values.
    @discardableResult
    private func update(
        isChange: Bool = true,
        _ change: (inout Keyring?, KeyDirectory) throws(StoreError) -> Void
    ) throws(StoreError) -> Keyring? {
        let file = files.file("keyring.json", of: store)
        let lock: FileLock
        do throws(FileError) { lock = try file.lock() } catch { throw failure(error) }
        defer { lock.unlock() }
        let changeCount = cache.changeCount
        let former = try read(file)
        var ring = former
        var present = directory()
        ring?.adopt(present)
        if isChange {
            // Also makes room for what the change announces.
            if let ring, ring == former { try removeSuperseded(ring, present) }
            try change(&ring, present)
            present = directory()
            ring?.adopt(present)
        }
        do throws(StoreError) {
            if let ring, ring != former {
                // Before anything that depends on it is published.
                do { try file.replace(with: JSONEncoder().encode(ring)) } catch {
                    throw failure(error)
                }
            }
            if let ring { try publish(ring, present) }
        } catch {
            if isChange { throw error }
        }
        cache.keep(ring, since: changeCount)
        return ring
    }

    private func read(_ file: LocalFile) throws(StoreError) -> Keyring? {
        do {
            guard let content = try file.read(byteLimit: 4 << 20) else { return nil }
            return try JSONDecoder().decode(Keyring.self, from: content.data)
        } catch let error as FileError {
            throw failure(error)
        } catch {
            // The error may quote a secret.
            throw StoreError(
                .damaged, operation: "read", subject: file.path, reason: "not a keyring",
                hint: "move it away, and enter the words of the key again")
        }
    }

    private func publish(_ ring: Keyring, _ directory: KeyDirectory) throws(StoreError) {
        // A device that was left out has nothing to say.
        guard let current = ring.current, ring.missing == nil else { return }
        try removeSuperseded(ring, directory)
        if let announcement = ring.missingAnnouncement(in: directory) {
            try announce(announcement, current.id)
        }
        let revision = UInt64(clamping: milliseconds)
        if let bytes = ring.missingDescription(in: directory, revision: revision) {
            let place = KeyDirectory.place(KeyDirectory.devicePrefix, ring.device)
            try store.write(.data(bytes), forKey: place.storedKey)
        }
        if let bytes = ring.missingFormers(in: directory, revision: revision) {
            let place = KeyDirectory.place(KeyDirectory.formerPrefix, current.id)
            try store.write(.data(bytes), forKey: place.storedKey)
        }
    }

    private func removeSuperseded(_ ring: Keyring, _ directory: KeyDirectory) throws(StoreError) {
        for key in ring.supersededKeys(in: directory) { try store.write(nil, forKey: key) }
    }

    private func announce(_ announcement: KeyAnnouncement, _ id: ContentKeyID) throws(StoreError) {
        let place = KeyDirectory.place(KeyAnnouncement.storedKeyPrefix, id)
        try store.encode(announcement, forKey: place.storedKey)
    }

    private func directory() -> KeyDirectory {
        var found = KeyDirectory()
        for key in store.keys {
            func id<ID: HexadecimalIdentifier>(_ prefix: String) -> ID? {
                key.hasPrefix(prefix) ? ID(String(key.dropFirst(prefix.count))) : nil
            }
            if let id: ContentKeyID = id(KeyAnnouncement.storedKeyPrefix) {
                // Whatever another program has put there is no announcement.
                found.announcements[id] = try? store.decode(KeyAnnouncement.self, forKey: key)
            } else if let id: SealingDeviceID = id(KeyDirectory.devicePrefix) {
                found.devices[id] = store.data(forKey: key)
            } else if let id: ContentKeyID = id(KeyDirectory.formerPrefix) {
                found.formers[id] = store.data(forKey: key)
            }
        }
        return found
    }

    // MARK: Errors

    private func failure(_ code: StoreError.Code, _ operation: String, _ reason: String, hint: String?) -> StoreError {
        StoreError(code, operation: operation, subject: "content key", reason: reason, hint: hint)
    }

    func noKey(_ operation: String) -> StoreError {
        failure(
            .noContentKey, operation, "this device has none", hint: Self.joinHint + "; on the first, kvs seal create")
    }

    static let joinHint = "run kvs seal join, with the words that kvs seal show prints on another device"

    private func failure(_ error: any Error) -> StoreError {
        guard let error = error as? FileError else {
            return failure(.storage, "write", "\(error)", hint: nil)
        }
        return StoreError(
            error.isOutOfSpace ? .diskFull : .storage, operation: error.operation,
            subject: error.path, reason: error.message)
    }
}
