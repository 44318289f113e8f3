import Foundation
import KVStore
import StoreTestSupport
import Testing

/// What code written for Apple's class casts `object(forKey:)` to. A number is an `NSNumber`, which casts to each
/// number type that holds it exactly, and to Bool if it is 0 or 1 (SE-0170).
@Suite("Objects of the store")
struct ObjectTests {
    private let directory: TemporaryDirectory
    private let store: UbiquitousKeyValueStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try UbiquitousKeyValueStore(configuration: StoreConfiguration(directory: directory.file("replica")))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var set: @Sendable (UbiquitousKeyValueStore) -> Void
        var int: Int?
        var int64: Int64?
        var uint8: UInt8?
        var double: Double?
        var float: Float?
        var bool: Bool?
        var testDescription: String { name }
    }

    static let rows = [
        Row(
            name: "Bool", set: { $0.set(true, forKey: "k") }, int: 1, int64: 1, uint8: 1,
            double: 1, float: 1, bool: true),
        Row(
            name: "Bool in Any", set: { $0.set(false as Any?, forKey: "k") }, int: 0, int64: 0,
            uint8: 0, double: 0, float: 0, bool: false),
        Row(name: "Int64", set: { $0.set(Int64(-7), forKey: "k") }, int: -7, int64: -7, double: -7, float: -7),
        Row(
            name: "Int in Any", set: { $0.set(200 as Any?, forKey: "k") }, int: 200, int64: 200,
            uint8: 200, double: 200, float: 200),
        Row(
            name: "UInt8 in Any", set: { $0.set(UInt8(9) as Any?, forKey: "k") }, int: 9,
            int64: 9, uint8: 9, double: 9, float: 9),
        Row(
            name: "one", set: { $0.set(Int64(1), forKey: "k") }, int: 1, int64: 1, uint8: 1, double: 1, float: 1,
            bool: true), Row(name: "Double", set: { $0.set(2.5, forKey: "k") }, double: 2.5, float: 2.5),
        Row(name: "whole Double", set: { $0.set(4.0, forKey: "k") }, int: 4, int64: 4, uint8: 4, double: 4, float: 4),
        Row(name: "Float in Any", set: { $0.set(Float(0.25) as Any?, forKey: "k") }, double: 0.25, float: 0.25),
        Row(
            name: "NSNumber", set: { $0.set(NSNumber(value: 300) as Any?, forKey: "k") }, int: 300, int64: 300,
            double: 300, float: 300), Row(name: "String", set: { $0.set("12", forKey: "k") }),
    ]

    @Test("a number casts to every type that holds it, also nested and after reopening", arguments: rows)
    func numbers(row: Row) throws {
        row.set(store)
        let value = try #require(store.object(forKey: "k"))
        store.set([value], forKey: "array")
        store.set(["a": value, "b": [value]], forKey: "dictionary")
        store.close()
        let reopened = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: directory.file("replica")))
        let objects: [Any?] = [
            value, reopened.object(forKey: "k"), reopened.dictionaryRepresentation["k"],
            reopened.array(forKey: "array")?[0], reopened.dictionary(forKey: "dictionary")?["a"],
            (reopened.object(forKey: "dictionary") as? [String: Any])?["a"],
            (reopened.dictionary(forKey: "dictionary")?["b"] as? [Any])?[0],
        ]
        for object in objects {
            let object = try #require(object)
            #expect(object as? Int == row.int)
            #expect(object as? Int64 == row.int64)
            #expect(object as? UInt8 == row.uint8)
            #expect(object as? Double == row.double)
            #expect(object as? Float == row.float)
            #expect(object as? CGFloat == row.double.map { CGFloat($0) })
            #expect(object as? Bool == row.bool)
            #expect((object is NSNumber) == (row.double != nil))
        }
        #expect(reopened.array(forKey: "array") as? [Int] == row.int.map { [$0] })
        #expect(reopened.object(forKey: "array") as? [Double] == row.double.map { [$0] })
        #expect(reopened.object(forKey: "array") as? [Bool] == row.bool.map { [$0] })
    }

    @Test("an integer beyond Int64 is kept exactly, also nested and after reopening")
    func unsigned() throws {
        let numbers: [UInt64] = [.max, .max - 1, 1 << 63, UInt64(Int64.max)]
        for (index, number) in numbers.enumerated() {
            store.set(number as Any?, forKey: "\(index)")
            store.set(["n": [UInt(number), NSNumber(value: number)] as [Any]], forKey: "nested \(index)")
        }
        #expect(store.string(forKey: "0") == "18446744073709551615")
        store.close()
        let reopened = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: directory.file("replica")))
        for (index, number) in numbers.enumerated() {
            let object = try #require(reopened.object(forKey: "\(index)"))
            #expect(object as? UInt64 == number && object as? UInt == UInt(number))
            #expect(object as? Int64 == Int64(exactly: number))
            #expect(object as? Double == Double(exactly: number))
            let nested = reopened.dictionary(forKey: "nested \(index)") as? [String: [UInt64]]
            #expect(nested == ["n": [number, number]])
        }
    }

    @Test("collections cast to typed ones, and everything to its Foundation class")
    func collections() throws {
        store.set(["a": 1, "b": 2] as [String: Any], forKey: "counts")
        store.set(["x": [1.5, 2]] as [String: Any], forKey: "nested")
        store.set(["a", "b"] as [Any], forKey: "names")
        store.set(Date(timeIntervalSinceReferenceDate: 9) as Any?, forKey: "date")
        store.set(Data([1, 2]), forKey: "data")
        #expect(store.dictionary(forKey: "counts") as? [String: Int] == ["a": 1, "b": 2])
        #expect(store.object(forKey: "counts") as? [String: Double] == ["a": 1, "b": 2])
        #expect(store.object(forKey: "nested") as? [String: [Double]] == ["x": [1.5, 2]])
        #expect(store.object(forKey: "nested") as? [String: [Int]] == nil)
        #expect(store.object(forKey: "names") as? [String] == ["a", "b"])
        #expect(store.object(forKey: "names") as? NSArray == ["a", "b"])
        #expect((store.object(forKey: "names") as? [Any])?[0] as? NSString == "a")
        #expect((store.object(forKey: "counts") as? NSDictionary)?["a"] as? Int == 1)
        #expect(store.object(forKey: "date") as? NSDate == NSDate(timeIntervalSinceReferenceDate: 9))
        #expect(store.object(forKey: "data") as? NSData == NSData(data: Data([1, 2])))
    }
}
