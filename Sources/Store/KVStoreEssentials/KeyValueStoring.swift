public import Essentials

/// The members that `UbiquitousKeyValueStore` and Apple's `NSUbiquitousKeyValueStore` share, so that one app can
/// use either.
///
/// ```swift
/// final class Settings {
///     let store: any KeyValueStoring
///     init(store: any KeyValueStoring) { self.store = store }
///     var theme: String { store.string(forKey: "theme") ?? "light" }
/// }
/// ```
public protocol KeyValueStoring: AnyObject {
    func object(forKey aKey: String) -> Any?
    func string(forKey aKey: String) -> String?
    func array(forKey aKey: String) -> [Any]?
    func dictionary(forKey aKey: String) -> [String: Any]?
    func data(forKey aKey: String) -> Data?
    func longLong(forKey aKey: String) -> Int64
    func double(forKey aKey: String) -> Double
    func bool(forKey aKey: String) -> Bool

    func set(_ anObject: Any?, forKey aKey: String)
    func set(_ aString: String?, forKey aKey: String)
    func set(_ aData: Data?, forKey aKey: String)
    func set(_ anArray: [Any]?, forKey aKey: String)
    func set(_ aDictionary: [String: Any]?, forKey aKey: String)
    func set(_ value: Int64, forKey aKey: String)
    func set(_ value: Double, forKey aKey: String)
    func set(_ value: Bool, forKey aKey: String)
    func removeObject(forKey aKey: String)

    var dictionaryRepresentation: [String: Any] { get }
    @discardableResult
    func synchronize() -> Bool
}

extension KeyValueStoring {
    /// Sets an integer. Without this, Swift 6.3 calls `set(0, forKey: key)` with a key in a variable ambiguous.
    public func set(_ value: Int, forKey aKey: String) { set(Int64(value), forKey: aKey) }
}

extension UbiquitousKeyValueStore: KeyValueStoring {}
