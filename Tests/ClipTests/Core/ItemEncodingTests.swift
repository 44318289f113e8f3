@testable import clip
import Foundation
import StoreTestSupport
import Testing

@Suite("Stored form of items")
struct ItemEncodingTests {
    private static let items: [ClipItem] = {
        var pinned = ClipItem("foo", at: 1_700_000_000_000)
        pinned.copyAgain(on: "laptop", at: 1_700_000_000_500)
        var lettered = pinned
        pinned.set(.unlettered, at: 3)
        lettered.set(PinLetter.all.first.map(PinState.Pin.letter), at: -3)
        var unpinned = lettered
        unpinned.set(nil, at: .init(milliseconds: .max))
        let rich = ClipContents([.init(.text, "é"), .init(.html, "<b>"), .init(.png, Data([0, 255]))])
        let large = ClipContents(text: String(repeating: "long ", count: 5_000))
        let extreme = ClipItem(
            body: .stub(
                ContentStub(parts: [.init(type: .png, byteCount: .max)], imageSize: .init(width: .max, height: 0))),
            origin: .init(device: "", application: "", title: ""),
            firstCopied: .init(milliseconds: .min), lastCopied: .init(milliseconds: .max), counts: ["": .max])
        return [pinned, lettered, unpinned, ClipItem(rich), ClipItem(large, at: -1), extreme]
    }()

    @Test("an item is read as it was written", arguments: items)
    func roundTrip(item: ClipItem) throws {
        #expect(try ClipItem(encoded: item.encoded) == item)
    }

    @Test("a small item takes few bytes beside its contents")
    func size() {
        #expect(ClipItem("foo", at: 1_700_000_000_000).encoded.count < 60)
    }

    @Test("the stored form of an item stays as it is")
    func vector() {
        let bytes = ClipItem("foo", at: 1_700_000_000_000).encoded
        let hex = bytes.map { String(format: "%02x", $0) }.joined()
        #expect(
            hex == "01" + "010c80a0abfef96280a0abfef962" + "0205046465736b"
                + "0506046465736b01" + "070f0a746578742f706c61696e03666f6f")
    }

    @Test("fields of a newer version are skipped, another format is refused")
    func newerVersions() throws {
        let item = Self.items[0]
        #expect(try ClipItem(encoded: item.encoded + Data([200, 2, 1, 2])) == item)
        #expect(throws: ItemFormatError.unsupportedVersion(2)) {
            try ClipItem(encoded: Data([2]) + item.encoded.dropFirst())
        }
    }

    @Test("bytes over the limit are refused")
    func tooLarge() {
        #expect(throws: ItemFormatError.tooLarge(200_000)) {
            try ClipItem(encoded: Data(count: 200_000))
        }
    }

    @Test("every beginning of an item is refused or an item", arguments: items)
    func beginnings(item: ClipItem) {
        let bytes = item.encoded
        for length in 0..<min(bytes.count, 2_000) {
            let read = try? ClipItem(encoded: bytes.prefix(length))
            #expect(read == nil || length > 10)
        }
        #expect(throws: ItemFormatError.self) { try ClipItem(encoded: bytes.dropLast()) }
    }

    @Test("damaged bytes are refused, or make an item that can be stored, merged and shown")
    func mutations() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var randomness = SeededGenerator(seed: seed)
        var readCount = 0
        for _ in 0..<20_000 {
            let item = try #require(Self.items.randomElement(using: &randomness))
            var bytes = [UInt8](item.encoded.prefix(400))
            for _ in 0..<Int.random(in: 1...4, using: &randomness) {
                let place = Int.random(in: 0..<bytes.count, using: &randomness)
                switch Int.random(in: 0..<4, using: &randomness) {
                case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &randomness)
                case 1: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &randomness) ?? 0
                case 2: bytes.remove(at: place)
                default: bytes.insert(UInt8.random(in: 0...255, using: &randomness), at: place)
                }
                if bytes.isEmpty { bytes = [1] }
            }
            guard let read = try? ClipItem(encoded: Data(bytes)) else { continue }
            readCount += 1
            let again = try? ClipItem(encoded: read.encoded)
            #expect(again == read, "seed \(seed): \(bytes)")
            #expect(read.joined(item) == item.joined(read), "seed \(seed): \(bytes)")
            #expect(ItemTitle.title(of: read).count <= ItemTitle.lengthLimit)
            guard again == read else { return }
        }
        #expect(readCount > 500)
    }

    @Test("keys have 24 bytes, and other names are none")
    func keys() {
        let key = ItemKey(digest: (0..<32).map { UInt8($0 * 8 + 3) })
        #expect(key.name == "i/AwsTGyMrMztDS1NbY2tzew")
        #expect(ItemKey(name: key.name) == key)
        for name in ["", "i/", "x/AwsTGyMrMztDS1NbY2tzew", "i/AwsTGyMrMztDS1NbY2tz+w", key.name + "A"] {
            #expect(ItemKey(name: name) == nil)
        }
        #expect(ItemKey(digest: Data(repeating: 0xFF, count: 32)).name == "i/_____________________w")
    }

    @Test("the same contents have the same canonical bytes, whatever the order and the markers")
    func canonicalBytes() {
        let parts: [ClipContents.Part] = [.init(.text, "foo"), .init(.html, "<b>foo</b>")]
        let marker = ClipContents.Part(ContentType(rawValue: "TIMESTAMP"), "7")
        let bytes = ClipContents(parts).canonicalBytes
        #expect(ClipContents(parts.reversed() + [marker]).canonicalBytes == bytes)
        #expect(
            ClipContents(text: "foo").canonicalBytes
                == Data([10, 0, 0, 0]) + Data("text/plain".utf8) + Data([3, 0, 0, 0])
                + Data("foo".utf8))
        // Lengths keep parts apart.
        #expect(
            ClipContents([.init(.text, "a"), .init(.rtf, "b")]).canonicalBytes
                != ClipContents([.init(.text, "ab"), .init(.rtf, "")]).canonicalBytes)
    }
}
