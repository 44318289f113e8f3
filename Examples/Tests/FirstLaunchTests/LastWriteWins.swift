import Foundation
import KVStore

/// One dictionary shared by all devices, like a store without stamps and first downloads.
final class LastWriteWins: KeyValueStoring {
    private(set) var dictionaryRepresentation: [String: Any] = [:]

    func object(forKey aKey: String) -> Any? { dictionaryRepresentation[aKey] }
    func string(forKey aKey: String) -> String? { object(forKey: aKey) as? String }
    func array(forKey aKey: String) -> [Any]? { object(forKey: aKey) as? [Any] }
    func dictionary(forKey aKey: String) -> [String: Any]? {
        object(forKey: aKey) as? [String: Any]
    }
    func data(forKey aKey: String) -> Data? { object(forKey: aKey) as? Data }
    func longLong(forKey aKey: String) -> Int64 { object(forKey: aKey) as? Int64 ?? 0 }
    func double(forKey aKey: String) -> Double { object(forKey: aKey) as? Double ?? 0 }
    func bool(forKey aKey: String) -> Bool { object(forKey: aKey) as? Bool ?? false }

    func set(_ anObject: Any?, forKey aKey: String) { dictionaryRepresentation[aKey] = anObject }
    func set(_ aString: String?, forKey aKey: String) { dictionaryRepresentation[aKey] = aString }
    func set(_ aData: Data?, forKey aKey: String) { dictionaryRepresentation[aKey] = aData }
    func set(_ anArray: [Any]?, forKey aKey: String) { dictionaryRepresentation[aKey] = anArray }
    func set(_ aDictionary: [String: Any]?, forKey aKey: String) {
        dictionaryRepresentation[aKey] = aDictionary
    }
    func set(_ value: Int64, forKey aKey: String) { dictionaryRepresentation[aKey] = value }
    func set(_ value: Double, forKey aKey: String) { dictionaryRepresentation[aKey] = value }
    func set(_ value: Bool, forKey aKey: String) { dictionaryRepresentation[aKey] = value }
    func removeObject(forKey aKey: String) { dictionaryRepresentation[aKey] = nil }
    func synchronize() -> Bool { true }
}
