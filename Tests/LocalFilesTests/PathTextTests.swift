import LocalFiles
import Testing

@Suite("Paths as text")
struct PathTextTests {
    @Test(
        "valid UTF-8 stands for itself",
        arguments: ["", "a/b", "é", "e\u{301}", "\u{10FF7F}", "\u{1F600}", "\u{301}/x"])
    func valid(text: String) {
        #expect(PathText.decode(Array(text.utf8)).unicodeScalars.elementsEqual(text.unicodeScalars))
    }

    @Test(
        "invalid bytes, and scalars that stand for them, lead back to the same bytes",
        arguments: [
            [0xFF], [0x61, 0x80, 0x62], [0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xC0, 0xAF],
            [0xF4, 0x8F, 0xBE, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], [0xF4, 0x8F], [0xF4, 0x90, 0x80, 0x80],
        ] as [[UInt8]])
    func invalid(bytes: [UInt8]) {
        #expect(PathText.encode(PathText.decode(bytes)) == bytes)
    }

    @Test("names of random bytes lead back to them and stay distinct")
    func random() {
        // Bytes that begin, continue and break sequences.
        let alphabet: [UInt8] = [0x61, 0x7F, 0x80, 0xBE, 0xBF, 0x8F, 0xC3, 0xE2, 0xED, 0xF0, 0xF4, 0xFF]
        var names: Set<[UInt8]> = []
        var texts: Set<[UInt32]> = []
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 1...8)).map { _ in alphabet.randomElement()! }
            let text = PathText.decode(bytes)
            #expect(PathText.encode(text) == bytes)
            PathText.withCString(text) { pointer in
                #expect(
                    (0..<bytes.count).allSatisfy {
                        UInt8(bitPattern: Int8(pointer[$0])) == bytes[$0]
                    })
                #expect(pointer[bytes.count] == 0)
            }
            names.insert(bytes)
            texts.insert(text.unicodeScalars.map(\.value))
        }
        #expect(names.count == texts.count)
    }
}
