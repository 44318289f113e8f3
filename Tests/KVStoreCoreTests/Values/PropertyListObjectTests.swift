import Foundation
import Testing

@testable import KVStoreCore

@Suite("Objects as property lists")
struct PropertyListObjectTests {
    private struct Other {}

    @Test("every number type of Swift converts to an integer, a double or a bool")
    func numbers() {
        let integers: [Any] = [
            Int(7), Int8(7), Int16(7), Int32(7), Int64(7), UInt(7), UInt8(7), UInt16(7), UInt32(7),
            UInt64(7), NSNumber(value: 7), NSNumber(value: Int8(7)), NSNumber(value: UInt64(7)),
        ]
        for object in integers {
            #expect(PropertyListValue(object: object) == .integer(7), "\(type(of: object))")
        }
        let doubles: [Any] = [
            Double(1.5), Float(1.5), CGFloat(1.5), NSNumber(value: 1.5),
            NSNumber(value: Float(1.5)), NSDecimalNumber(string: "1.5"),
        ]
        for object in doubles {
            #expect(PropertyListValue(object: object) == .double(1.5), "\(type(of: object))")
        }
        for value in [true, false] {
            #expect(PropertyListValue(object: value) == .bool(value))
            #expect(PropertyListValue(object: NSNumber(value: value)) == .bool(value))
        }
        #expect(PropertyListValue(object: NSNumber(value: 1)) == .integer(1))
        #expect(PropertyListValue(object: NSNumber(value: 0)) == .integer(0))
        #expect(PropertyListValue(object: 1) == .integer(1))
        #expect(PropertyListValue(object: 1.0) == .double(1))
        #expect(PropertyListValue(object: NSNumber(value: 1.0)) == .double(1))
        #expect(PropertyListValue(object: Int64.min) == .integer(.min))
        #expect(PropertyListValue(object: UInt64(Int64.max)) == .integer(.max))
    }

    @Test("integers beyond Int64 are unsigned, and no others")
    func largeIntegers() {
        #expect(PropertyListValue(object: UInt64.max) == .unsigned(.max))
        #expect(PropertyListValue(object: UInt(1) << 63) == .unsigned(1 << 63))
        #expect(PropertyListValue(object: NSNumber(value: UInt64.max)) == .unsigned(.max))
        #expect(PropertyListValue(object: NSNumber(value: UInt64(7))) == .integer(7))
    }

    @Test("Foundation's classes convert as the types they bridge to")
    func bridging() {
        #expect(PropertyListValue(object: NSString(string: "é")) == .string("é"))
        #expect(PropertyListValue(object: NSMutableString(string: "m")) == .string("m"))
        #expect(PropertyListValue(object: "ab".dropFirst()) == nil)
        #expect(PropertyListValue(object: NSData(data: Data([1]))) == .data(Data([1])))
        #expect(
            PropertyListValue(object: NSDate(timeIntervalSinceReferenceDate: 5))
                == .date(Date(timeIntervalSinceReferenceDate: 5)))
        #expect(
            PropertyListValue(object: NSArray(array: [1, "a", true]))
                == .array([.integer(1), .string("a"), .bool(true)]))
        #expect(
            PropertyListValue(object: NSDictionary(dictionary: ["a": NSArray(array: [2.5])]))
                == .dictionary(["a": .array([.double(2.5)])]))
        #expect(PropertyListValue(object: NSDictionary(dictionary: [1: "a"])) == nil)
        #expect(PropertyListValue(object: NSNull()) == nil)
    }

    @Test("containers of Swift types convert completely or not at all")
    func containers() {
        #expect(
            PropertyListValue(object: ["a": [1, 2], "b": []] as [String: [Int]])
                == .dictionary(["a": .array([.integer(1), .integer(2)]), "b": .array([])]))
        #expect(PropertyListValue(object: [Any]()) == .array([]))
        #expect(PropertyListValue(object: [String: Any]()) == .dictionary([:]))
        #expect(PropertyListValue(object: ["x", Other()] as [Any]) == nil)
        #expect(PropertyListValue(object: ["x": ["y": Other()]]) == nil)
        #expect(
            PropertyListValue(object: [Data([1]), Date(timeIntervalSinceReferenceDate: 1)] as [Any])
                == .array([.data(Data([1])), .date(Date(timeIntervalSinceReferenceDate: 1))]))
    }

    @Test("objects that are not property lists do not convert")
    func others() {
        let objects: [Any] = [
            Other(), URL(filePath: "/"), UUID(), NSNull(), Set([1]), NSObject(), { () in }, ["a": Other()],
            Character("a"), Date(timeIntervalSinceReferenceDate: .nan), Date(timeIntervalSinceReferenceDate: .infinity),
        ]
        for object in objects {
            #expect(PropertyListValue(object: object) == nil, "\(type(of: object))")
        }
        #expect(PropertyListValue(object: Optional<String>.none as Any) == nil)
        #expect(PropertyListValue(object: Optional("x") as Any) == .string("x"))
        #expect(PropertyListValue(object: Optional(5) as Any) == .integer(5))
        #expect(PropertyListValue(object: Optional(true) as Any) == .bool(true))
    }

    @Test("what is no property list is named by its place and the reason")
    func obstacles() {
        let (nan, url) = (Date(timeIntervalSinceReferenceDate: .nan), URL(filePath: "/"))
        var deep: Any = 1
        for _ in 0..<600 { deep = [deep] }
        let rows: [(object: Any, text: String)] = [
            (url, "URL is not a property list type"), (nan, "the date is not finite"),
            (["url": url] as [String: Any], #"["url"]: URL is not a property list type"#),
            ([1, NSNull()] as [Any], "[1]: NSNull is not a property list type"),
            ([nan] as [Any], "[0]: the date is not finite"),
            (["a": [1, ["b": nan]]] as [String: Any], #"["a"][1]["b"]: the date is not finite"#),
            (deep, "[0][0][0][0][0][0][0][0]…: nests deeper than 128 levels"),
        ]
        for (object, text) in rows {
            let error = #expect(throws: PropertyListValue.Obstacle.self) {
                _ = try PropertyListValue(converting: object)
            }
            #expect(error?.description == text)
        }
        let typed = PropertyListValue.dictionary(["a": .array([.integer(1), .date(nan)])])
        #expect(typed.obstacle?.description == #"["a"][1]: the date is not finite"#)
    }

    @Test("nesting is limited for objects as it is for bytes")
    func depth() throws {
        var object: Any = 1
        for _ in 0..<128 { object = [object] }
        let value = try #require(PropertyListValue(object: object))
        #expect(try PropertyListValue(encoded: value.encoded()) == value)
        #expect(PropertyListValue(object: [object]) == nil)
        for _ in 0..<2_000 { object = [object] }
        #expect(PropertyListValue(object: object) == nil)
    }

    @Test("a value converted to an object and back is equal", arguments: 1...100)
    func roundTrip(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let value = PropertyListValue.generated(using: &random)
        #expect(PropertyListValue(object: value.object) == value, "seed \(seed)")
        #expect(PropertyListValue(object: value) == value)
    }
}
