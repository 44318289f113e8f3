import Essentials
import KVStoreCore
import KVStoreWire
import Testing

@Suite("Percent-encoding")
struct PercentEncodingTests {
    @Test(
        "decoding preserves every byte",
        arguments: [
            ("", ""), ("abc", "abc"), ("a%2Fb", "a/b"), ("a%2fb", "a/b"), ("a+b", "a+b"),
            ("%EF%BB%BFabc", "\u{FEFF}abc"), ("\u{FEFF}abc", "\u{FEFF}abc"),
            ("e%CC%81", "e\u{301}"), ("%C3%A9", "\u{e9}"), ("%C3%A4%2F%20b", "ä/ b"), ("ä", "ä"),
            ("a%00b", "a\u{0}b"), ("%25", "%"), ("%2541", "%41"), ("%F0%9F%98%80", "\u{1F600}"),
            ("..", ".."), ("%2e%2E", ".."),
        ])
    func decodes(text: String, expected: String) {
        #expect(PercentEncoding.decode(text).map { Array($0.utf8) } == Array(expected.utf8))
        #expect(PercentEncoding.decode(text[...]) == PercentEncoding.decode(text))
    }

    @Test(
        "malformed codes and bytes that are not UTF-8 do not decode",
        arguments: [
            "%", "%2", "a%", "%2G", "%G2", "% 2", "%+2", "%-1", "%%41", "%\u{FF12}0", "%FF", "%C3",
            "%C0%80", "%ED%A0%80", "%F4%90%80%80", "%A9%C3", "%80",
        ])
    func malformed(text: String) {
        #expect(PercentEncoding.decode(text) == nil)
    }

    @Test("every byte but the unreserved characters is encoded")
    func encodes() {
        #expect(PercentEncoding.encode("azAZ09-._~") == "azAZ09-._~")
        #expect(PercentEncoding.encode("../a b?c#d%/\u{e9}\u{0}+&=") == "..%2Fa%20b%3Fc%23d%25%2F%C3%A9%00%2B%26%3D")
        #expect(PercentEncoding.encode("aB.", keeping: { $0 == UInt8(ascii: "a") }) == "a%42%2E")
    }

    @Test("what is encoded decodes to the same bytes", arguments: Samples.literalKeys.map(\.text))
    func roundTrip(text: String) {
        let decoded = PercentEncoding.decode(PercentEncoding.encode(text))
        #expect(decoded.map { Array($0.utf8) } == Array(text.utf8))
    }
}
