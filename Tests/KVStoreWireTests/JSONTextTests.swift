import Foundation
import KVStoreCore
import Testing

@testable import KVStoreWire

@Suite("JSON text")
struct JSONTextTests {
    @Test("a string is written as JSONEncoder writes it, whatever it contains")
    func strings() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        let texts =
            (0..<0x300).compactMap(Unicode.Scalar.init).map { "a\(String($0))b" }
            + Samples.literalKeys.map(\.text) + ["", "</script>", "\u{2029}", "\u{10FFFF}"]
        for text in texts {
            var written = JSONText()
            written.write(text)
            #expect(try Data(written.bytes) == encoder.encode(text), "\(text.debugDescription)")
        }
    }

    @Test("numbers keep all digits, and arrays separate their elements")
    func numbers() throws {
        var text = JSONText()
        text.write(UInt64.max)
        text.write(Int64.min)
        text.write([Samples.tombstone("a"), Samples.tombstone("b")])
        let stamp = Samples.stamp()
        #expect(
            String(decoding: text.bytes, as: UTF8.self) == "18446744073709551615-9223372036854775808"
                + "[{\"deleted\":true,\"key\":\"a\",\"stamp\":\"\(stamp)\"},"
                + "{\"deleted\":true,\"key\":\"b\",\"stamp\":\"\(stamp)\"}]")
    }
}
