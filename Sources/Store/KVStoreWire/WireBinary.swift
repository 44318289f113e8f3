/// A message with a binary form beside its JSON.
package protocol BinaryMessage {
    /// The size of the message without the version.
    var binaryByteCount: Int { get }
    func write(to bytes: inout [UInt8])
    init(from reader: inout BinaryReader) throws(WireError)
}

/// Encodes and decodes `SyncRequest` and `SyncResponse` in binary, with the information of their JSON documents. A
/// message has exactly one encoding. `docs/protocol.md` is normative.
package enum WireBinary {
    static let version: UInt8 = 1

    package static func encode(_ message: some BinaryMessage) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1 + message.binaryByteCount)
        bytes.append(version)
        message.write(to: &bytes)
        return bytes
    }

    /// Copies keys and values, so that one value which a store keeps does not retain the whole message. The caller
    /// bounds the size; decoding takes a small multiple of it.
    ///
    /// - Parameter listLimit: elements of a list; more are `listTooLong`.
    package static func decode<Message: BinaryMessage>(
        _ type: Message.Type = Message.self, from bytes: UnsafeRawBufferPointer, listLimit: Int = .max
    ) throws(WireError) -> Message {
        var reader = BinaryReader(bytes, listLimit: listLimit)
        let version = try reader.number(UInt8.self, "version")
        guard version == Self.version else {
            throw .malformed("version \(version) is not supported; the version is \(Self.version)")
        }
        let message = try Message(from: &reader)
        try reader.finish()
        return message
    }
}
