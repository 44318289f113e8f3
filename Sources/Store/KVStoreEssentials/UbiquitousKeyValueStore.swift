// The store that an app opens: Apple's API, the owner of a replica that several processes share,
// watching, and the protocol of a transport. Not here: rules (KVStoreCore), bytes on disk
// (KVStoreLog) and any network (KVStoreHTTP).

public import Essentials
@_exported public import KVStoreCore

/// A key-value store whose values reach every device of an account.
///
/// It has the members of Apple's `NSUbiquitousKeyValueStore`, with the same names and results. Reads are served from
/// memory, writes are appended to the replica's log before they return, and everything works offline. All members may
/// be called from any thread. Any number of processes may open one replica. Apple's class is not declared `Sendable`;
/// that this one is, is an addition.
///
/// ```swift
/// let store = try UbiquitousKeyValueStore(
///     configuration: StoreConfiguration(directory: directory, transport: transport))
/// let observer = Task { for await change in store.changes { print(change.keys) } }
/// store.set("dark", forKey: "theme")
/// print(store.string(forKey: "theme") ?? "light")
/// ```
///
/// A subclass, such as a mock, may override any of Apple's members. The typed getters and setters of a subclass go
/// through `object(forKey:)` and `set(_:forKey:)` for objects, so that overriding these two, `removeObject(forKey:)`,
/// `dictionaryRepresentation` and `synchronize()` replaces the store; then none is opened. Override either these or the
/// typed members, not both with calls of `super`, which would pass through the override for objects too.
///
/// Getters coerce values of other types as described in `PropertyListValue+Coercion.swift`.
open class UbiquitousKeyValueStore: StoreObject, @unchecked Sendable {
    /// Nil for the default store, which is found at each call.
    private let opened: StoreEngine?

    var engine: StoreEngine { opened ?? DefaultStore.engine }

    var isDefault: Bool { opened == nil }

    /// Another object for the default store.
    public override init() {
        opened = nil
        super.init()
        // A mock does not stand for the store.
        if !isSubclass { DefaultStore.attach(self) }
    }

    /// Opens the replica, creates it if it is missing, and connects in the background.
    ///
    /// Throws if the directory or its files cannot be used. Damaged files are quarantined and reported in
    /// `status.recoveryNotes`.
    public convenience init(configuration: StoreConfiguration) throws(StoreError) {
        self.init(try StoreEngine.open(configuration))
    }

    package convenience init(configuration: StoreConfiguration, runtime: StoreRuntime) throws(StoreError) {
        self.init(try StoreEngine(configuration: configuration, runtime: runtime))
    }

    private init(_ engine: StoreEngine) {
        opened = engine
        super.init()
        engine.attach(self)
    }

    /// The user's store, opened on first use. Stops the program if its directory cannot be used.
    ///
    /// Without `setDefaultConfiguration` it is the local store "default" in `StoreDirectories.data()`, which all such
    /// programs of the user share.
    open class var `default`: UbiquitousKeyValueStore { DefaultStore.object }

    /// Sets the configuration of `default`. Stops the program if `default` has been used before.
    public static func setDefaultConfiguration(_ configuration: StoreConfiguration) {
        DefaultStore.setConfiguration(configuration)
    }

    // MARK: - Getting values

    /// The value as a property list object, or nil.
    open func object(forKey aKey: String) -> Any? { propertyList(forKey: aKey)?.object }

    /// A string, or the decimal text of a number; nil for other types.
    open func string(forKey aKey: String) -> String? { stored(aKey)?.stringValue }

    /// An array of property list objects; nil for other types.
    open func array(forKey aKey: String) -> [Any]? {
        guard case .array(let values) = stored(aKey) else { return nil }
        return values.map(\.object)
    }

    /// A dictionary of property list objects; nil for other types.
    open func dictionary(forKey aKey: String) -> [String: Any]? {
        guard case .dictionary(let values) = stored(aKey) else { return nil }
        return values.mapValues(\.object)
    }

    /// Data; nil for other types.
    open func data(forKey aKey: String) -> Data? {
        guard case .data(let data) = stored(aKey) else { return nil }
        return data
    }

    /// A number truncated toward zero, or the leading integer of a string; otherwise 0. Saturates out of range.
    open func longLong(forKey aKey: String) -> Int64 { stored(aKey)?.longLongValue ?? 0 }

    /// A number, or the leading decimal number of a string; otherwise 0.
    open func double(forKey aKey: String) -> Double { stored(aKey)?.doubleValue ?? 0 }

    /// Whether the value is a nonzero number or a string such as "YES", "true" or "1"; otherwise false.
    open func bool(forKey aKey: String) -> Bool { stored(aKey)?.boolValue ?? false }

    /// All keys with their values. Of keys that differ only in Unicode normalization, which a Swift dictionary cannot
    /// hold side by side, it contains one; `keys` lists all.
    open var dictionaryRepresentation: [String: Any] {
        var result: [String: Any] = [:]
        for key in keys { result[key] = propertyList(forKey: key)?.object }
        return result
    }

    /// What the typed getters convert: for a subclass, such as a mock, what its `object(forKey:)` returns.
    private func stored(_ key: String) -> PropertyListValue? {
        guard isSubclass else { return propertyList(forKey: key) }
        return object(forKey: key).flatMap { PropertyListValue(object: $0) }
    }

    private var isSubclass: Bool { type(of: self) != UbiquitousKeyValueStore.self }

    // MARK: - Setting values

    /// Sets a property list; nil removes the key. Anything else is reported on standard error and ignored.
    open func set(_ anObject: Any?, forKey aKey: String) {
        guard let anObject else { return put(nil, forKey: aKey) }
        do throws(PropertyListValue.Obstacle) {
            put(try PropertyListValue(converting: anObject), forKey: aKey)
        } catch {
            report(StoreError(error, key: aKey))
        }
    }

    /// Sets a string; nil removes the key.
    open func set(_ aString: String?, forKey aKey: String) {
        setTyped(aString.map { .string($0) }, forKey: aKey)
    }

    /// Sets data; nil removes the key.
    open func set(_ aData: Data?, forKey aKey: String) {
        setTyped(aData.map { .data($0) }, forKey: aKey)
    }

    /// Sets an array of property list objects; nil removes the key.
    open func set(_ anArray: [Any]?, forKey aKey: String) {
        set(anArray.map { $0 as Any }, forKey: aKey)
    }

    /// Sets a dictionary of property list objects; nil removes the key.
    open func set(_ aDictionary: [String: Any]?, forKey aKey: String) {
        set(aDictionary.map { $0 as Any }, forKey: aKey)
    }

    /// Sets an integer.
    open func set(_ value: Int64, forKey aKey: String) { setTyped(.integer(value), forKey: aKey) }

    /// Sets a floating-point number.
    open func set(_ value: Double, forKey aKey: String) { setTyped(.double(value), forKey: aKey) }

    /// Sets a Boolean.
    open func set(_ value: Bool, forKey aKey: String) { setTyped(.bool(value), forKey: aKey) }

    /// Removes the key, on all devices of the account.
    open func removeObject(forKey aKey: String) { put(nil, forKey: aKey) }

    /// What the typed setters do: for a subclass, such as a mock, what its `set(_:forKey:)` for objects does.
    private func setTyped(_ value: PropertyListValue?, forKey key: String) {
        if isSubclass { set(value?.object, forKey: key) } else { put(value, forKey: key) }
    }

    /// A value for a key that is too long is a programmer error and stops the program, as it does with Apple's class. A
    /// write past the quota is reported by a notification, an empty key and a failed disk on standard error.
    private func put(_ value: PropertyListValue?, forKey key: String) {
        do throws(StoreError) {
            try write(value, forKey: key)
        } catch {
            switch error.code {
            case .invalidKey where !key.isEmpty: Diagnostics.stop(error.description)
            case .quotaExceeded, .tooManyKeys: configuration.onDroppedWrite?(error)
            default: report(error)
            }
        }
    }

    private func report(_ error: StoreError) {
        Diagnostics.write("UbiquitousKeyValueStore: \(error)")
    }

    // MARK: - Synchronizing

    /// Flushes everything to disk and requests a round trip in the background.
    ///
    /// - Returns: false if the flush failed or the store is closed.
    @discardableResult open func synchronize() -> Bool { engine.synchronize() }

    // MARK: - Key-value coding

    /// `object(forKey:)`.
    open override func value(forKey key: String) -> Any? { object(forKey: key) }

    /// `set(_:forKey:)`.
    open override func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }
}
