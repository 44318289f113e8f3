package import KVStoreCore

/// The bytes of a binary example in a document: pairs of hexadecimal digits, "…" for those of an epoch, and behind ";"
/// what they are. Nil for anything else.
package func documentedBytes(_ text: String, epoch: EpochID) -> [UInt8]? {
    var bytes: [UInt8] = []
    for line in text.split(separator: "\n") {
        for pair in line.prefix(while: { $0 != ";" }).split(separator: " ") {
            if pair == "…" {
                bytes.append(littleEndian: epoch.rawValue)
            } else if pair.count == 2, let byte = UInt8(pair, radix: 16) {
                bytes.append(byte)
            } else {
                return nil
            }
        }
    }
    return bytes
}
