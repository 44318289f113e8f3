import Crypto
import Foundation
import KVStore
import StoreTestSupport
import Testing

@testable import KVStoreSealed

@Suite("The format of sealed values")
struct SealedValueTests {
    private let place = SealedValue.Place(store: "notes", storedKey: "s/C-kcp3nztM9Eb0g2vNUeUg")
    private let value = SealedValue(
        name: "note", revision: 1_795_000_000_000, bytes: PropertyListValue.string("milk").encoded())

    @Test("the documented example is what this code seals and opens")
    func documentedExample() throws {
        let document = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../docs/sealed-values.md"), encoding: .utf8)
        let key = try #require(ContentKey(secret: Data(0..<16), created: 0))
        for text in [
            RecoveryWords.words(of: key.secret).joined(separator: " "), "\(key.id)",
            key.comparisonCode, key.storedKey(of: "note"),
        ] {
            #expect(document.contains("`\(text)`"))
        }
        #expect(key.storedKey(of: "note") == place.storedKey)
        let example = try #require(document.split(separator: "```").dropFirst().first)
        let bytes = try #require(documentedBytes(String(example), epoch: EpochID(rawValue: 0)))
        let nonce = try ChaChaPoly.Nonce(data: Data(0..<12))
        #expect(Array(value.sealed(with: key, at: place, nonce: nonce)) == bytes)
        #expect(try SealedValue(opening: Data(bytes), with: key, at: place) == value)
    }

    @Test("size classes grow, add at most 12 percent past 64 bytes, and are their own class")
    func sizeClasses() {
        var former = 0
        for count in 0..<70_000 {
            let padded = SealedValue.paddedByteCount(count)
            #expect(padded >= count && padded >= former && padded == SealedValue.paddedByteCount(padded))
            #expect(count < 64 || Double(padded) <= Double(count) * 1.12)
            former = padded
        }
    }

    @Test("random bytes behind a valid header are not opened")
    func randomBytes() throws {
        let key = ContentKey.random(created: 0)
        let header = value.sealed(with: key, at: place).prefix(13)
        var random = SystemRandomNumberGenerator()
        for count in 0..<200 {
            let rest = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
            #expect(throws: SealedValue.Failure.notAuthentic) {
                try SealedValue(opening: header + rest, with: key, at: place)
            }
        }
    }
}
