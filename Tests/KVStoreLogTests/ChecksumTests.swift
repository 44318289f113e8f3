import KVStoreCore
import Testing

@testable import KVStoreLog

@Suite("Checksum")
struct ChecksumTests {
    @Test("the published check values match")
    func knownVectors() {
        let vectors: [([UInt8], UInt32)] = [
            ([], 0), (Array("123456789".utf8), 0xE306_9283), ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
            ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43), (Array(0..<32), 0x46DD_794E),
        ]
        for (bytes, expected) in vectors {
            #expect(bytes.withUnsafeBytes { Checksum.of($0) } == expected)
        }
    }

    @Test("a checksum of pieces equals the checksum of the whole, by instructions as by tables")
    func pieces() {
        var random = SplitMix64(seed: 11)
        let bytes = (0..<1_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        let whole = bytes.withUnsafeBytes { Checksum.of($0) }
        for _ in 0..<200 {
            var checksum = Checksum()
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = Array(rest.prefix(Int.random(in: 1...40, using: &random)))
                piece.withUnsafeBytes { checksum.update($0) }
                rest = rest.dropFirst(piece.count)
            }
            #expect(checksum.value == whole)
            var byTables = Checksum()
            bytes.withUnsafeBytes { byTables.updateByTables($0) }
            #expect(byTables.value == whole)
        }
    }
}
