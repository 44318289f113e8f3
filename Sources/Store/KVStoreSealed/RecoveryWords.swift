import Crypto
import Essentials

/// A content key as twelve English words: BIP-0039 with 128 bits and its English list, so that any tool for such
/// phrases can check one.
package enum RecoveryWords {
    static let count = 12
    /// A checksum of four bits follows the 128 of the secret.
    private static let wordBitCount = 11

    /// All words that a phrase can have.
    package static let list = String(decoding: PackageResources.words_txt, as: UTF8.self)
        .split(separator: "\n").map(String.init)

    static func words(of secret: Data) -> [String] {
        let bytes = Array(secret) + [checksum(secret) << 4]
        return (0..<count).map { index in
            let bits = (0..<wordBitCount).reduce(0) { number, offset in
                let bit = index * wordBitCount + offset
                return number << 1 | Int(bytes[bit / 8] >> (7 - bit % 8) & 1)
            }
            return list[bits]
        }
    }

    enum Failure: Error, Equatable, CustomStringConvertible {
        case count(Int)
        /// With the nearest words of the list.
        case unknownWord(at: Int, near: [String])
        case checksum

        /// Does not repeat what may be part of a secret.
        var description: String {
            switch self {
            case .count(let count): "a key has \(RecoveryWords.count) words, not \(count)"
            case .unknownWord(let position, let near):
                "word \(position) is not in the list"
                    + (near.isEmpty ? "" : "; near it are \(near.joined(separator: ", "))")
            case .checksum: "one of the words is wrong, or two are swapped"
            }
        }
    }

    /// The secret that the words stand for. Case, punctuation and white space between words do not matter, and numbers
    /// give their order, so columns can be pasted; a word may be cut after its first four letters, which are unique.
    static func secret(from text: String) throws(Failure) -> Data {
        let parts = text.lowercased().split { !$0.isASCII || !$0.isLetter && !$0.isNumber }.prefix(64)
        var words = parts.filter { Int($0) == nil }
        let numbers = parts.compactMap { Int($0) }
        guard words.count == count else { throw .count(words.count) }
        if numbers.sorted() == Array(1...count) {
            words = zip(numbers, words).sorted { $0.0 < $1.0 }.map(\.1)
        }
        var bits: [UInt8] = []
        for (position, word) in words.enumerated() {
            guard let index = list.firstIndex(where: { $0 == word || word.count >= 4 && $0.hasPrefix(word) }) else {
                let near = list.filter { $0.hasPrefix(word.prefix(3)) }.prefix(4)
                throw .unknownWord(at: position + 1, near: Array(near))
            }
            for offset in (0..<wordBitCount).reversed() { bits.append(UInt8(index >> offset & 1)) }
        }
        let bytes = stride(from: 0, to: 128, by: 8).map { start in
            bits[start..<(start + 8)].reduce(0 as UInt8) { $0 << 1 | $1 }
        }
        let secret = Data(bytes)
        guard bits.suffix(4).reduce(0, { $0 << 1 | $1 }) == checksum(secret) else {
            throw .checksum
        }
        return secret
    }

    private static func checksum(_ secret: Data) -> UInt8 {
        SHA256.hash(data: secret).withUnsafeBytes { $0[0] >> 4 }
    }
}
