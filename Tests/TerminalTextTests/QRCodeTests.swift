import Testing

@testable import TerminalText

@Suite("QR code")
struct QRCodeTests {
    @Test("a short text gives the modules that another encoder gives")
    func modules() throws {
        // By qrcode 8 of PyPI: level L, mask 0.
        let rows = [
            2_082_175, 1_065_281, 1_528_925, 1_524_061, 1_526_621, 1_068_609, 2_086_271, 5_120,
            1_963_460, 693_979, 2_024_179, 2_042_784, 1_396_339, 4_188, 2_086_207, 1_072_194,
            1_531_208, 1_525_434, 1_528_573, 1_073_026, 2_086_651,
        ]
        let code = try #require(QRCode("Ubiquity"))
        #expect(code.size == 21)
        let found = (0..<code.size).map { y in (0..<code.size).reduce(0) { $0 << 1 | (code[$1, y] ? 1 : 0) } }
        #expect(found == rows)
    }

    @Test(
        "larger versions have the checksums of another encoder's modules",
        arguments: [
            (106, 37, 0xdb256bd9571ff271 as UInt64), (150, 45, 0x4489793a2b0f5ed3), (260, 57, 0xa0f1a78dabe494df),
        ])
    func versions(byteCount: Int, size: Int, checksum: UInt64) throws {
        let text = String(String(repeating: "0123456789", count: 30).prefix(byteCount))
        let code = try #require(QRCode(text))
        #expect(code.size == size)
        var found: UInt64 = 0xcbf2_9ce4_8422_2325
        for y in 0..<size {
            for x in 0..<size { found = (found ^ (code[x, y] ? 1 : 0)) &* 0x100_0000_01b3 }
        }
        #expect(found == checksum)
    }

    @Test("271 bytes fit, 272 do not")
    func limit() {
        #expect(QRCode(String(repeating: "x", count: 271)) != nil)
        #expect(QRCode(String(repeating: "x", count: 272)) == nil)
    }

    @Test("the text has a margin of four modules and two rows in a line")
    func text() throws {
        let code = try #require(QRCode("x"))
        let lines = code.text.split(separator: "\n")
        #expect(lines.count == 15)
        #expect(lines[0] == "\u{1B}[30;107m" + String(repeating: " ", count: 29) + "\u{1B}[0m")
        #expect(lines[2].hasPrefix("\u{1B}[30;107m    █▀▀▀▀▀█ "))
    }
}
