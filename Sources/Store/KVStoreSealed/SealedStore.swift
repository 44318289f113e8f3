import Essentials
public import KVStoreEssentials
import Synchronization

/// A store whose values and keys only the devices with the account's content key can read.
///
/// What it stores are ordinary values of the store: newest write wins, quota, watching and synchronization work as
/// ever, and count sealed bytes. Beside it, the same store may have values that are not sealed. Calls block; any thread
/// may make them.
///
/// ```swift
/// let sealed = try SealedStore(store, of: account)
/// try sealed.write(.string("only here"), forKey: "secret")
/// print(try sealed.contents().values)
/// ```
public final class SealedStore: Sendable {
    public let store: UbiquitousKeyValueStore
    private let account: SealedAccount
    private let seen: Mutex<SeenRevisions>
    private let files: SealingFiles

    /// - Parameters:
    ///   - store: any store of the account but the one for keys.
    ///   - account: the account's content keys.
    /// - Throws: `storage` or `damaged` if what this device has seen of the store cannot be read.
    public convenience init(_ store: UbiquitousKeyValueStore, of account: SealedAccount) throws(StoreError) {
        try self.init(store, of: account, SealingFiles())
    }

    package init(
        _ store: UbiquitousKeyValueStore, of account: SealedAccount, _ files: SealingFiles
    ) throws(StoreError) {
        precondition(store.configuration.storeName != SealedAccount.storeName)
        self.store = store
        self.account = account
        self.files = files
        seen = Mutex(try SeenRevisions(files.file("sealed.json", of: store)))
    }

    /// The bytes that a sealed value counts with in the quota.
    ///
    /// - Parameters:
    ///   - valueByteCount: of the binary property list.
    ///   - keyByteCount: of the key in UTF-8.
    public static func sealedByteCount(ofValue valueByteCount: Int, key keyByteCount: Int) -> Int {
        SealedValue.sealedByteCount(ofValue: valueByteCount, name: keyByteCount)
    }

    // MARK: Reading

    /// The value of a key; nil for a missing one.
    ///
    /// - Throws: `noContentKey` if the value is sealed, or may be sealed, with a key that this device lacks;
    ///   `notAuthentic` if someone without the key has changed or moved it, or has put back a value that is older than
    ///   one seen before.
    public func propertyList(forKey key: String) throws(StoreError) -> PropertyListValue? {
        defer { remember() }
        let ring = try account.keyring()
        let found = try newest(key, ring)
        if let failure = ring?.missing.map(Self.replaced) { throw failure }
        if let found { return try decode(found.value, key) }
        // Which key a value has, only the right content key tells.
        for storedKey in store.keys where storedKey.hasPrefix(ContentKey.storedKeyPrefix) {
            do throws(SealedValue.Failure) {
                guard let bytes = bytes(storedKey) else { throw .notSealed }
                let id = try SealedValue.keyID(of: bytes)
                if ring?[id] == nil { throw .unknownKey(id) }
            } catch .notSealed {
                // Not at the place of a value with this key.
                continue
            } catch {
                throw StoreError(error, "key \(key)")
            }
        }
        return nil
    }

    /// Another device has replaced the content key, and this one was not given the new key: values may be newer than
    /// those that it can open.
    private static func replaced(by id: ContentKeyID) -> StoreError {
        StoreError(
            .noContentKey, operation: "open", subject: "content key",
            reason: "replaced by \(id), which this device lacks", hint: SealedAccount.joinHint)
    }

    /// Under which the store has the value of a key, which may be one that cannot be opened; nil for a missing one.
    public func storedKey(of key: String) throws(StoreError) -> String? {
        try account.keyring()?.keys.lazy.map { $0.storedKey(of: key) }.first { store.record(forKey: $0) != nil }
    }

    /// All keys with their values, and what cannot be opened.
    public func contents() throws(StoreError) -> Contents {
        defer { remember() }
        let ring = try account.keyring()
        var contents = Contents()
        // A name may have a value under a former key and under the present one.
        var newest: [String: (opened: Opened, storedKey: String)] = [:]
        for storedKey in store.keys where storedKey.hasPrefix(ContentKey.storedKeyPrefix) {
            do throws(StoreError) {
                let opened = try open(storedKey, ring, nil)
                if let other = newest[opened.value.name]?.opened, !(other < opened) { continue }
                newest[opened.value.name] = (opened, storedKey)
            } catch {
                contents.problems.append(error)
            }
        }
        for (name, found) in newest {
            do throws(StoreError) {
                try checkAge(found.opened.value, ring)
                contents.entries[name] = Contents.Entry(
                    value: try decode(found.opened.value, name), storedKey: found.storedKey)
            } catch {
                contents.problems.append(error)
            }
        }
        if let failure = ring?.missing.map(Self.replaced),
            !contents.problems.contains(where: { $0.code == failure.code })
        {
            contents.problems.append(failure)
        }
        return contents
    }

    public struct Contents: Sendable {
        public struct Entry: Sendable, Equatable {
            public var value: PropertyListValue
            /// Under which the store has it; its record there says when it was written.
            public var storedKey: String
        }

        /// By key.
        public var entries: [String: Entry] = [:]
        public var values: [String: PropertyListValue] { entries.mapValues(\.value) }
        public var problems: [StoreError] = []
    }

    /// Changes by other devices and processes, with the keys of this store in place of the stored ones. A key that was
    /// removed before this object has read it is left out. Each call returns a new stream.
    public var changes: AsyncStream<StoreChange> {
        let changes = store.changes
        // Names of keys that will be removed.
        _ = try? contents()
        return AsyncStream { continuation in
            let task = Task { [weak self] in
                for await change in changes {
                    guard let self else { break }
                    let names = Set(change.keys.compactMap(self.name(ofStored:)))
                    if !names.isEmpty {
                        continuation.yield(StoreChange(reason: change.reason, keys: names.sorted()))
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func name(ofStored key: String) -> String? {
        guard key.hasPrefix(ContentKey.storedKeyPrefix) else { return nil }
        // One that cannot be opened has no name here, or an earlier one.
        if let value = try? open(key, account.keyring(), nil).value { return value.name }
        return seen.withLock { $0.names[key] }
    }

    // MARK: Writing

    /// Seals and sets a value, or removes the key with nil.
    ///
    /// - Throws: `noContentKey` on a device without one, and the errors of `UbiquitousKeyValueStore.write`.
    public func write(_ value: PropertyListValue?, forKey key: String) throws(StoreError) {
        try write(value?.encoded(), forKey: key, after: 0)
    }

    private func write(_ bytes: Data?, forKey key: String, after least: UInt64) throws(StoreError) {
        guard !key.isEmpty, key.utf8.count <= Self.keyByteLimit else {
            throw StoreError(
                .invalidKey, operation: "set", subject: "key \(key.prefix(32))…",
                reason: "a sealed key has 1 to \(Self.keyByteLimit) bytes")
        }
        guard let ring = try account.keyring(), let current = ring.current else {
            throw account.noKey("seal")
        }
        let storedKey = current.storedKey(of: key)
        // A value that cannot be opened is replaced too.
        let storedKeys = ring.keys.map { $0.storedKey(of: key) }
        // One that cannot be opened has no revision.
        let former = storedKeys.compactMap { (try? open($0, ring, key))?.value.revision }.max() ?? 0
        let highest = max(former, least, seen.withLock { $0.revision(of: key, storedKeys) })
        let revision = max(UInt64(clamping: files.now()), highest == .max ? .max : highest + 1)
        if let bytes {
            let sealed = SealedValue(name: key, revision: revision, bytes: bytes)
                .sealed(with: current, at: place(storedKey))
            try store.write(.data(sealed), forKey: storedKey)
        }
        for other in storedKeys.dropFirst(bytes == nil ? 0 : 1) where store.record(forKey: other) != nil {
            try store.write(nil, forKey: other)
        }
        seen.withLock { seen in
            seen.remember(revision, of: key)
            for storedKey in storedKeys { seen.names[storedKey] = key }
        }
        remember()
    }

    /// The store's own keys are shorter; these are part of the sealed value.
    static let keyByteLimit = 1_024

    /// Seals with the present key what an earlier one seals, for all to do after the key has changed.
    ///
    /// - Returns: how many values were sealed again.
    @discardableResult
    public func reseal() throws(StoreError) -> Int {
        guard let current = try account.keyring()?.current else { throw account.noKey("seal") }
        var count = 0
        for name in try contents().entries.keys {
            let ring = try account.keyring()
            guard let found = try newest(name, ring), found.key != current.id else { continue }
            try write(found.value.bytes, forKey: name, after: found.value.revision)
            count += 1
        }
        return count
    }

    /// Takes the present value of a key as the newest, after a message that it is older than one seen before: the
    /// account was restored from a backup, say.
    public func acceptOlder(forKey key: String) throws(StoreError) {
        let ring = try account.keyring()
        try seen.withLock { seen throws(StoreError) in
            seen.forget(key, ring?.keys.map { $0.storedKey(of: key) } ?? [])
            try seen.save()
        }
    }

    /// Writes what this device has seen, so that older values are noticed by its other programs too. If it cannot, the
    /// next call does.
    private func remember() {
        try? seen.withLock { seen throws(StoreError) in try seen.save() }  // saved with the next value
    }

    // MARK: Values

    private func place(_ storedKey: String) -> SealedValue.Place {
        SealedValue.Place(store: store.configuration.storeName, storedKey: storedKey)
    }

    /// A value with the content key that seals it.
    private struct Opened {
        var value: SealedValue
        var key: ContentKeyID

        /// Two devices may have given one revision: all choose the same value then.
        static func < (left: Opened, right: Opened) -> Bool {
            (left.value.revision, left.key.rawValue) < (right.value.revision, right.key.rawValue)
        }
    }

    /// The newest value under the keys that have one.
    private func newest(_ name: String, _ ring: Keyring?) throws(StoreError) -> Opened? {
        var found: Opened?
        for key in ring?.keys ?? [] {
            let storedKey = key.storedKey(of: name)
            guard store.record(forKey: storedKey) != nil else { continue }
            let opened = try open(storedKey, ring, name)
            if found.map({ $0 < opened }) ?? true { found = opened }
        }
        if let found { try checkAge(found.value, ring) }
        return found
    }

    /// The bytes of a value that may be sealed.
    private func bytes(_ storedKey: String) -> Data? {
        guard case .data(let bytes)? = store.propertyList(forKey: storedKey) else { return nil }
        return bytes
    }

    /// Opens what the store has under a stored key with the content key that its header names.
    private func open(_ storedKey: String, _ ring: Keyring?, _ name: String?) throws(StoreError) -> Opened {
        let subject = "key \(name ?? storedKey)"
        do throws(SealedValue.Failure) {
            guard let bytes = bytes(storedKey) else { throw .notSealed }
            let id = try SealedValue.keyID(of: bytes)
            guard let key = ring?[id] else { throw .unknownKey(id) }
            let value = try SealedValue(opening: bytes, with: key, at: place(storedKey))
            guard key.storedKey(of: value.name) == storedKey else { throw .notAuthentic }
            seen.withLock { $0.names[storedKey] = value.name }
            return Opened(value: value, key: id)
        } catch {
            throw StoreError(error, subject)
        }
    }

    /// Notes the newest value of a name; throws for one that is older than another seen before, under whichever content
    /// key.
    private func checkAge(_ value: SealedValue, _ ring: Keyring?) throws(StoreError) {
        let isOlder = seen.withLock { seen in
            defer { seen.remember(value.revision, of: value.name) }
            return value.revision < seen.revision(of: value.name, ring?.keys.map { $0.storedKey(of: value.name) } ?? [])
        }
        guard !isOlder else {
            throw StoreError(
                .notAuthentic, operation: "open", subject: "key \(value.name)",
                reason: "an older value than one that this device has seen",
                hint: "if a backup was restored, run kvs seal accept")
        }
    }

    private func decode(_ value: SealedValue, _ key: String) throws(StoreError) -> PropertyListValue {
        do {
            return try PropertyListValue(encoded: value.bytes)
        } catch {
            throw StoreError(
                .invalidValue, operation: "open", subject: "key \(key)", reason: "not a property list: \(error)")
        }
    }
}

extension StoreError {
    fileprivate init(_ failure: SealedValue.Failure, _ subject: String) {
        let (code, reason, hint): (StoreError.Code, String, String?) =
            switch failure {
            case .notSealed: (.notAuthentic, "the value is not sealed", nil)
            case .unsupportedVersion(let version):
                (.damaged, "sealed in version \(version) of the format", "update this program")
            case .unknownKey(let id):
                (.noContentKey, "sealed with the content key \(id), which this device lacks", SealedAccount.joinHint)
            case .notAuthentic: (.notAuthentic, "someone without the key has changed or moved the value", nil)
            }
        self.init(code, operation: "open", subject: subject, reason: reason, hint: hint)
    }
}
