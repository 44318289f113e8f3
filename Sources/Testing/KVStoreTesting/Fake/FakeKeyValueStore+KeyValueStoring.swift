public import Foundation
public import KVStore
import KVStoreCore

extension FakeKeyValueStore: KeyValueStoring {
    public func object(forKey aKey: String) -> Any? { read(.object, aKey)?.object }

    public func string(forKey aKey: String) -> String? { read(.string, aKey)?.stringValue }

    public func array(forKey aKey: String) -> [Any]? {
        guard case .array(let values)? = read(.array, aKey) else { return nil }
        return values.map(\.object)
    }

    public func dictionary(forKey aKey: String) -> [String: Any]? {
        guard case .dictionary(let values)? = read(.dictionary, aKey) else { return nil }
        return values.mapValues(\.object)
    }

    public func data(forKey aKey: String) -> Data? {
        guard case .data(let data)? = read(.data, aKey) else { return nil }
        return data
    }

    public func longLong(forKey aKey: String) -> Int64 { read(.longLong, aKey)?.longLongValue ?? 0 }

    public func double(forKey aKey: String) -> Double { read(.double, aKey)?.doubleValue ?? 0 }

    public func bool(forKey aKey: String) -> Bool { read(.bool, aKey)?.boolValue ?? false }

    public func set(_ anObject: Any?, forKey aKey: String) {
        recordCall(of: .set, forKey: aKey)
        guard let anObject else { return write(nil, forKey: aKey) }
        do throws(PropertyListValue.Obstacle) {
            write(try PropertyListValue(converting: anObject), forKey: aKey)
        } catch {
            report(StoreError(error, key: aKey))
        }
    }

    public func set(_ aString: String?, forKey aKey: String) { set(aString as Any?, forKey: aKey) }

    public func set(_ aData: Data?, forKey aKey: String) { set(aData as Any?, forKey: aKey) }

    public func set(_ anArray: [Any]?, forKey aKey: String) { set(anArray as Any?, forKey: aKey) }

    public func set(_ aDictionary: [String: Any]?, forKey aKey: String) {
        set(aDictionary as Any?, forKey: aKey)
    }

    public func set(_ value: Int64, forKey aKey: String) { set(value as Any?, forKey: aKey) }

    public func set(_ value: Double, forKey aKey: String) { set(value as Any?, forKey: aKey) }

    public func set(_ value: Bool, forKey aKey: String) { set(value as Any?, forKey: aKey) }

    public func removeObject(forKey aKey: String) {
        recordCall(of: .removeObject, forKey: aKey)
        write(nil, forKey: aKey)
    }

    public var dictionaryRepresentation: [String: Any] {
        recordCall(of: .dictionaryRepresentation)
        var result: [String: Any] = [:]
        for key in keys { result[key] = value(forKey: key)?.object }
        return result
    }

    /// True, as of a store whose disk works.
    @discardableResult
    public func synchronize() -> Bool {
        recordCall(of: .synchronize)
        return true
    }

    private func read(_ member: Member, _ key: String) -> PropertyListValue? {
        recordCall(of: member, forKey: key)
        return value(forKey: key)
    }
}
