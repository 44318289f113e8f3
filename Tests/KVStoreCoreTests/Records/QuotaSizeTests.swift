import Essentials
import Foundation
import KVStoreCore
import Testing

@Suite("Sizes that count toward a quota")
struct QuotaSizeTests {
    static let rows: [(name: String, value: PropertyListValue, byteCount: Int?)] = [
        ("no data", .data(Data()), 0), ("data", .data(Data(count: 14)), 14),
        ("data whose length takes a byte", .data(Data(count: 15)), 15),
        ("data whose length takes two bytes", .data(Data(count: 300)), 300),
        ("data of 1 MB", .data(Data(count: 1_048_576)), 1_048_576), ("no text", .string(""), 0),
        ("ASCII", .string("light"), 5), ("long ASCII", .string(String(repeating: "a", count: 70_000)), 70_000),
        ("Latin", .string("é"), 2), ("Chinese", .string("\u{4E2D}\u{6587}"), 6), ("an emoji", .string("a👍🏽"), 9),
        ("long text", .string(String(repeating: "aé", count: 40_000)), 120_000), ("an integer", .integer(7), nil),
        ("a Boolean", .bool(true), nil), ("a date", .date(Date(timeIntervalSinceReferenceDate: 1)), nil),
        ("an array of one datum", .array([.data(Data(count: 100))]), nil),
        ("a dictionary", .dictionary(["a": .string("b")]), nil),
    ]

    @Test("data counts its length, a string its UTF-8 length, anything else its property list", arguments: rows.indices)
    func sizes(index: Int) throws {
        let row = Self.rows[index]
        let encoded = row.value.encoded()
        #expect(StoreRecord.Content.value(encoded).quotaByteCount == row.byteCount ?? encoded.count, "\(row.name)")
        if case .string(let text) = row.value { #expect(text.utf8.count == row.byteCount) }
        // Another writer's encoder counts alike.
        let foundation = try PropertyListSerialization.data(
            fromPropertyList: row.value.object, format: .binary, options: 0)
        if row.byteCount != nil {
            #expect(StoreRecord.Content.value(foundation).quotaByteCount == row.byteCount)
        }
    }

    @Test("bytes that are not a property list count in full, whatever they claim")
    func foreignBytes() {
        let encoded = PropertyListValue.data(Data(count: 300)).encoded()
        for length in 0..<encoded.count {
            let cut = encoded.prefix(length)
            let byteCount = StoreRecord.Content.value(cut).quotaByteCount
            #expect(byteCount == length || byteCount == 300 && length >= 332)
        }
        for position in 0..<60 where position < encoded.count {
            var changed = encoded
            changed[position] ^= 0x10
            #expect(StoreRecord.Content.value(changed).quotaByteCount <= encoded.count)
        }
        #expect(StoreRecord.Content.tombstone.quotaByteCount == 0)
    }
}
