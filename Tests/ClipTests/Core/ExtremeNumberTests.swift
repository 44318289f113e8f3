@testable import clip
import Foundation
import StoreTestSupport
import Testing

/// Numbers that anybody may have written into what was copied, or into an item of another machine.
@Suite("Extreme numbers")
struct ExtremeNumberTests {
    private static let numbers = [
        "", "-", "0", "-0", "1", "-1", "9", "255", "256", "32767", "-32768", "65535", "65536",
        "55296", "56320", "1114112", "2147483647", "-2147483648", "4294967295", "4294967296",
        "9223372036854775807", "-9223372036854775808", "18446744073709551615",
        "99999999999999999999999999", "1e9", "--1", "0x7fffffffffffffff",
    ]
    private static let limits = [0, 1, 1_000, 262_144, Int.max - 1, .max]

    private func texts(_ type: ContentType, _ data: Data) -> [String] {
        Self.limits.map { ItemTitle.text(of: ClipContents([.init(type, data)]), limit: $0) }
    }

    @Test("no number after any control word of RTF stops reading it", arguments: numbers)
    func rtf(number: String) {
        let words = [
            "u", "uc", "bin", "par", "tab", "b", "fs", "f", "ansicpg", "rtf", "pict", "fonttbl",
            "li", "upr", "ud", "emdash", "u1\\u", "uc16\\u", "uc\(number)\\u", "'",
        ]
        for word in words {
            for form in [
                "{\\rtf1 a\\\(word)\(number) b}", "\\\(word)\(number)",
                "{\\rtf\\\(word)\(number)?c",
                "{\\rtf1{\\*\\\(word)\(number)}}\\\(word)\(number)\\\(word)\(number) d",
            ] {
                let found = texts(.rtf, Data(form.utf8))
                #expect(found.allSatisfy { $0.utf8.count <= form.utf8.count * 4 }, "\(form)")
            }
        }
    }

    @Test("no number of an entity of HTML stops reading it", arguments: numbers)
    func html(number: String) {
        for form in ["&#\(number);", "&#x\(number);", "<p \(number)>&#\(number)", "<h\(number)>x"] {
            let found = texts(.html, Data("a\(form)b".utf8))
            #expect(found.allSatisfy { $0.utf8.count <= form.utf8.count * 4 + 2 }, "\(form)")
        }
    }

    @Test("all of a long formatted text is there when all is wanted")
    func all() {
        let count = 300 * 1_024
        let text = String(repeating: "a", count: count)
        #expect(texts(.rtf, Data("{\\rtf1 \(text)}".utf8)).last?.utf8.count == count)
        #expect(texts(.html, Data("<p>\(text)</p>".utf8)).last?.utf8.count == count)
    }

    @Test("no header of an image is read beyond its end, whatever it says of itself")
    func images() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var randomness = SeededGenerator(seed: seed)
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
        #expect(PixelSize(of: Data(png + Array(repeating: 0xFF, count: 8))) == PixelSize(width: .max, height: .max))
        for marker in UInt8.min...(.max) {
            for length in [0, 1, 2, 7, 0xFFFF] as [UInt16] {
                let segment = [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)]
                for rest in 0..<12 {
                    _ = PixelSize(of: Data([0xFF, 0xD8] + segment + Array(repeating: 0xFF, count: rest)))
                }
            }
        }
        for start in [png, [0xFF, 0xD8, 0xFF, 0xE0]] {
            for count in 0..<64 {
                let rest = (0..<count).map { _ in UInt8.random(in: 0...255, using: &randomness) }
                let item = ClipItem(ClipContents([.init(.png, Data(start + rest))]))
                #expect(ItemTitle.preview(of: item).isEmpty)
            }
        }
    }

    @Test("an item with any times, counts and sizes is ordered, expires, is pinned and stored")
    func items() throws {
        let times: [Timestamp] = [.init(milliseconds: .min), -1, 0, 1, .init(milliseconds: .max)]
        for first in times {
            for last in times {
                let stub = ContentStub(
                    parts: [.init(type: .png, byteCount: .max), .init(type: .text, byteCount: 1)],
                    imageSize: PixelSize(width: .max, height: .max))
                var item = ClipItem(
                    body: .stub(stub), origin: .init(device: "desk"), firstCopied: first, lastCopied: last,
                    counts: ["desk": .max, "laptop": .max], pin: PinState(nil, changed: last))
                item.copyAgain(on: "desk", at: first)
                item.set(.unlettered, at: first)
                #expect(try ClipItem(encoded: item.encoded) == item)
                #expect(item.copyCount == 2 * Int(UInt32.max) && stub.byteCount == .max)
                item.set(nil, at: last)
                for time in times {
                    var history = ClipHistory(items: [ItemKey("x"): item])
                    _ = history.selectionCleared(ItemKey("x"), at: time)
                    for expiry in Expiry.allCases { _ = history.expire(expiry, at: time) }
                    for order in ItemOrder.allCases { _ = history.sorted(by: order) }
                    _ = history.trim()
                    var recent = RecentCopyOuts()
                    recent.remember(ItemKey("x"), at: first)
                    _ = recent.contains(ItemKey("x"), at: time)
                }
            }
        }
    }

    @Test("bytes that are no item are an error, whatever numbers they have")
    func encodedItems() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var randomness = SeededGenerator(seed: seed)
        let items = [
            ClipItem(ClipContents([.init(.text, "text"), .init(.html, "<b>")]), at: 5),
            ClipItem(ClipContents([.init(.png, Data(count: 20_000))]), at: 7),
        ]
        for _ in 0..<2_000 {
            var bytes = [UInt8](items.randomElement(using: &randomness)!.encoded.prefix(200))
            for _ in 0..<Int.random(in: 1...4, using: &randomness) {
                let place = Int.random(in: 1..<bytes.count, using: &randomness)
                let number: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]
                bytes.replaceSubrange(place..<place, with: number.suffix(Int.random(in: 1...10, using: &randomness)))
            }
            _ = try? ClipItem(encoded: Data(bytes))
        }
    }

    @Test("a version of tmux is any number", arguments: numbers)
    func tmux(number: String) {
        let environment = CopyOutEnvironment(tmuxVersion: "tmux \(number).\(number)")
        _ = try? CopyOut.choose(.init(.text, "x"), in: environment)
    }

    @Test("sizes of a history and of an item are in their ranges, whatever is set")
    func limits() {
        for number in [Int.min, -1, 0, 1, 999, 1_000, .max] {
            #expect(HistoryLimits.sizes.contains(HistoryLimits(size: number).size))
            #expect((1_024...65_536).contains(ItemByteLimit(kibibytes: number).byteCount))
            #expect(HistoryLimits().storedByteCount(max(0, number)) >= max(0, number))
            #expect("abc".shortened(to: number).count <= 3)
        }
    }
}
