public import Essentials
import KVStoreCore
import Synchronization

// The members of Apple's class. Getters coerce values of other types as described in
// `PropertyListValue+Coercion.swift`.
extension UbiquitousKeyValueStore {
    private static let defaultConfiguration = Mutex(
        StoreConfiguration(
            directory: StoreDirectories.replica(
                account: nil, storeName: StoreConfiguration.defaultStoreName)))

    /// Sets the configuration of `default`; call it before the first use.
    public static func setDefaultConfiguration(_ configuration: StoreConfiguration) {
        defaultConfiguration.withLock { $0 = configuration }
    }

    /// The user's store, opened on first use. Stops the program if its directory cannot be used.
    public static let `default`: UbiquitousKeyValueStore = {
        do throws(StoreError) {
            return try UbiquitousKeyValueStore(
                configuration: defaultConfiguration.withLock { $0 })
        } catch {
            stop(error.description)
        }
    }()

    /// The value as a property list object, or nil.
    public func object(forKey key: String) -> Any? { value(forKey: key)?.object }

    /// A string, or the decimal text of a number; nil for other types.
    public func string(forKey key: String) -> String? { value(forKey: key)?.stringValue }

    /// An array of property list objects; nil for other types.
    public func array(forKey key: String) -> [Any]? {
        guard case .array(let values) = value(forKey: key) else { return nil }
        return values.map(\.object)
    }

    /// A dictionary of property list objects; nil for other types.
    public func dictionary(forKey key: String) -> [String: Any]? {
        guard case .dictionary(let values) = value(forKey: key) else { return nil }
        return values.mapValues(\.object)
    }

    /// Data; nil for other types.
    public func data(forKey key: String) -> Data? {
        guard case .data(let data) = value(forKey: key) else { return nil }
        return data
    }

    /// A number truncated toward zero, or the leading integer of a string; otherwise 0. Saturates out of range.
    public func longLong(forKey key: String) -> Int64 { value(forKey: key)?.longLongValue ?? 0 }

    /// A number, or the leading decimal number of a string; otherwise 0.
    public func double(forKey key: String) -> Double { value(forKey: key)?.doubleValue ?? 0 }

    /// Whether the value is a nonzero number or a string such as "YES", "true" or "1"; otherwise false.
    public func bool(forKey key: String) -> Bool { value(forKey: key)?.boolValue ?? false }

    /// Sets a property list; nil removes the key. Anything else is reported on standard error and ignored.
    public func set(_ anObject: Any?, forKey aKey: String) {
        guard let anObject else { return put(nil, forKey: aKey) }
        guard let value = PropertyListValue(object: anObject) else {
            return report(
                StoreError(
                    .invalidValue, operation: "set", subject: "key \(aKey)",
                    reason: "\(type(of: anObject)) is not a property list type",
                    hint: "encode it as Data first"))
        }
        put(value, forKey: aKey)
    }

    /// Sets a string; nil removes the key.
    public func set(_ aString: String?, forKey aKey: String) {
        put(aString.map { .string($0) }, forKey: aKey)
    }

    /// Sets data; nil removes the key.
    public func set(_ aData: Data?, forKey aKey: String) {
        put(aData.map { .data($0) }, forKey: aKey)
    }

    /// Sets an array of property list objects; nil removes the key.
    public func set(_ anArray: [Any]?, forKey aKey: String) {
        set(anArray.map { $0 as Any }, forKey: aKey)
    }

    /// Sets a dictionary of property list objects; nil removes the key.
    public func set(_ aDictionary: [String: Any]?, forKey aKey: String) {
        set(aDictionary.map { $0 as Any }, forKey: aKey)
    }

    /// Sets an integer.
    public func set(_ value: Int64, forKey aKey: String) { put(.integer(value), forKey: aKey) }

    /// Sets a floating-point number.
    public func set(_ value: Double, forKey aKey: String) { put(.double(value), forKey: aKey) }

    /// Sets a Boolean.
    public func set(_ value: Bool, forKey aKey: String) { put(.bool(value), forKey: aKey) }

    /// Removes the key, on all devices of the account.
    public func removeObject(forKey aKey: String) { put(nil, forKey: aKey) }

    /// All keys with their values. Of keys that differ only in Unicode normalization, which a Swift dictionary cannot
    /// hold side by side, it contains one; `keys` lists all.
    public var dictionaryRepresentation: [String: Any] {
        var result: [String: Any] = [:]
        for key in keys { result[key] = object(forKey: key) }
        return result
    }

    /// An invalid key is a programmer error and stops the program, as it does with Apple's class. A write past the
    /// quota is reported by a notification, a failed disk on standard error.
    private func put(_ value: PropertyListValue?, forKey key: String) {
        do throws(StoreError) {
            try write(value, forKey: key)
        } catch {
            switch error.code {
            case .invalidKey: Self.stop(error.description)
            case .quotaExceeded, .tooManyKeys: break
            default: report(error)
            }
        }
    }

    private func report(_ error: StoreError) {
        Diagnostics.write("UbiquitousKeyValueStore: \(error)")
    }

    /// Writes the message itself: a release build does not print that of a failed precondition.
    private static func stop(_ message: String) -> Never {
        Diagnostics.write("UbiquitousKeyValueStore: \(message)")
        fatalError(message)
    }
}
