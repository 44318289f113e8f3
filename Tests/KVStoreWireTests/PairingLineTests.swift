import KVStoreWire
import Testing

@Suite("Pairing line")
struct PairingLineTests {
    private static let code = "AwEkN_Im67nNBlTWri3v1kxSrKvmPA"
    private static let key = "uW3wP6YCPn-2mmbUKaFc0TMJFQNV_ExaEeyZEV61ajk"

    @Test(
        "a line has the form that is documented",
        arguments: [
            ("https://192.168.1.20:8722", true, "192.168.1.20:8722/\(code)/\(key)"),
            ("https://[::1]:8722", true, "[::1]:8722/\(code)/\(key)"),
            ("https://kv.example.org:443/prefix", false, "kv.example.org:443/prefix/\(code)/https"),
            ("http://127.0.0.1:8722", false, "127.0.0.1:8722/\(code)/http"),
        ])
    func form(url: String, isPinned: Bool, text: String) throws {
        let line = try #require(PairingLine("ubiquity://" + text))
        #expect(line.url == url)
        #expect(line.key == (isPinned ? KeyFingerprint(Self.key) : nil))
        #expect(line.text == "ubiquity://" + text)
    }

    @Test(
        "a line that lacks a part is invalid, however it was cut",
        arguments: 0..<"ubiquity://192.168.1.20:8722/\(code)/\(key)".count)
    func cut(count: Int) {
        let text = "ubiquity://192.168.1.20:8722/\(Self.code)/\(Self.key)"
        #expect(PairingLine(String(text.prefix(count))) == nil)
    }

    @Test("a line without a host is invalid")
    func host() { #expect(PairingLine("ubiquity:///\(Self.code)/https") == nil) }

    @Test("printing a line's code does not show it")
    func redaction() throws {
        let line = try #require(PairingLine("ubiquity://h:1/\(Self.code)/https"))
        var dumped = ""
        dump(line, to: &dumped)
        for text in ["\(line)", "\(line.code)", String(reflecting: line), dumped] {
            #expect(!text.contains(Self.code))
        }
    }
}
