import Foundation
import KVStore
import StoreTestSupport
import Testing

/// What each getter returns for each stored type, with Apple's documentation of it beside the rows.
///
/// "Store" is https://developer.apple.com/documentation/foundation/nsubiquitouskeyvaluestore, whose pages have the
/// wording of those of `UserDefaults`. Where it gives only an example, the documentation of `NSString` and `NSNumber`
/// decides.
@Suite("Coercions of the getters")
struct CoercionTests {
    private struct Row {
        var stored: Any
        var string: String?
        var longLong: Int64 = 0
        var double: Double = 0
        var bool = false
        var data: Data?
        var array: [Int]?
        var dictionary: [String: Int]?
    }

    private static var rows: [Row] {
        [
            // Bool. Store, longLong(forKey:) and double(forKey:): true becomes 1 and false 0. NSNumber, stringValue:
            // "1" and "0".
            Row(stored: true, string: "1", longLong: 1, double: 1, bool: true), Row(stored: false, string: "0"),

            // Integers. Store, string(forKey:): "it converts the integer 123 to the string “123”"; double(forKey:): "2
            // becomes 2.0". NSNumber, boolValue: false for zero only.
            Row(stored: Int64(0), string: "0"), Row(stored: Int64(2), string: "2", longLong: 2, double: 2, bool: true),
            Row(stored: Int64(123), string: "123", longLong: 123, double: 123, bool: true),
            Row(stored: Int64(-7), string: "-7", longLong: -7, double: -7, bool: true),
            Row(stored: Int64.max, string: "9223372036854775807", longLong: .max, double: 0x1p63, bool: true),
            Row(stored: Int64.min, string: "-9223372036854775808", longLong: .min, double: -0x1p63, bool: true),

            // Beyond Int64. Apple documents nothing; NSNumber's int64Value would wrap around. It saturates, as a double
            // does.
            Row(stored: UInt64.max, string: "18446744073709551615", longLong: .max, double: 0x1p64, bool: true),

            // Doubles. Store, bool(forKey:): "the numbers 1 and 1.0" become true; longLong(forKey:): "the greatest
            // integer that’s less than the stored number –– for example, 2.67 becomes 2". Read literally -5.7 would
            // become -6, and 2.0 become 1; here it is truncated toward zero, as NSNumber's int64Value does. Out of
            // range saturates; Apple documents nothing.
            Row(stored: 1.0, string: "1", longLong: 1, double: 1, bool: true),
            Row(stored: 2.67, string: "2.67", longLong: 2, double: 2.67, bool: true),
            Row(stored: -5.7, string: "-5.7", longLong: -5, double: -5.7, bool: true),
            Row(stored: 0.5, string: "0.5", double: 0.5, bool: true),
            Row(stored: 1e30, string: "1e+30", longLong: .max, double: 1e30, bool: true),
            Row(stored: -1e30, string: "-1e+30", longLong: .min, double: -1e30, bool: true),
            Row(stored: Double.nan, string: "nan", double: .nan, bool: true),

            // Strings that name a Boolean. Store, bool(forKey:): "the strings “true”, “YES”, and “1”" become true.
            // NSString, longLongValue and doubleValue: 0 for what does not begin with a number.
            Row(stored: "true", string: "true", bool: true), Row(stored: "YES", string: "YES", bool: true),
            Row(stored: "Y", string: "Y", bool: true),
            Row(stored: "1", string: "1", longLong: 1, double: 1, bool: true), Row(stored: "0", string: "0"),
            Row(stored: "no", string: "no"), Row(stored: "false", string: "false"), Row(stored: "", string: ""),

            // Strings with a number. Store, longLong(forKey:): "“123” becomes 123"; double(forKey:): "“123.4” becomes
            // 123.4". NSString, longLongValue: a decimal integer after white space, LLONG_MAX or LLONG_MIN on overflow;
            // doubleValue: a floating-point number after white space; boolValue: true for a digit 1–9 after white
            // space, sign and zeroes.
            Row(stored: "123", string: "123", longLong: 123, double: 123, bool: true),
            Row(stored: "123.4", string: "123.4", longLong: 123, double: 123.4, bool: true),
            Row(stored: "-5.7", string: "-5.7", longLong: -5, double: -5.7, bool: true),
            Row(stored: " 42abc", string: " 42abc", longLong: 42, double: 42, bool: true),
            Row(stored: "007", string: "007", longLong: 7, double: 7, bool: true),
            Row(stored: "0.9", string: "0.9", double: 0.9),
            Row(stored: "1e3", string: "1e3", longLong: 1, double: 1_000, bool: true),
            Row(
                stored: "9223372036854775808", string: "9223372036854775808", longLong: .max,
                double: 0x1p63, bool: true),

            // Everything else. Store, data(forKey:), dictionary(forKey:): nil "if the retrieved value isn’t a data
            // object", "a dictionary object"; string(forKey:): nil if "the method can’t use it to create an appropriate
            // string".
            Row(stored: Date(timeIntervalSinceReferenceDate: 9)), Row(stored: Data([1, 2]), data: Data([1, 2])),
            Row(stored: Data("1".utf8), data: Data("1".utf8)), Row(stored: [1, 2], array: [1, 2]),
            Row(stored: [Int](), array: []), Row(stored: ["a": 1], dictionary: ["a": 1]),
            Row(stored: [String: Int](), dictionary: [:]),
        ]
    }

    @Test("every getter returns what Apple documents for every stored type")
    func getters() throws {
        let directory = try TemporaryDirectory()
        let store = try UbiquitousKeyValueStore(configuration: StoreConfiguration(directory: directory.file("replica")))
        for row in Self.rows {
            store.set(row.stored as Any?, forKey: "k")
            let name: Comment = "\(type(of: row.stored)) \(row.stored)"
            #expect(store.string(forKey: "k") == row.string, name)
            #expect(store.longLong(forKey: "k") == row.longLong, name)
            let double = store.double(forKey: "k")
            #expect(double == row.double || double.isNaN && row.double.isNaN, name)
            #expect(store.bool(forKey: "k") == row.bool, name)
            #expect(store.data(forKey: "k") == row.data, name)
            #expect(store.array(forKey: "k") as? [Int] == row.array, name)
            #expect(store.dictionary(forKey: "k") as? [String: Int] == row.dictionary, name)
            let object = try #require(store.object(forKey: "k"), name)
            #expect(NSArray(array: [object]) == NSArray(array: [row.stored]), name)
        }
    }
}
