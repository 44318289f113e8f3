import Essentials
import KVStoreWire
import NIOCore
import NIOHTTP1

/// The body of a request or an answer.
struct HTTPBody {
    /// The media type without parameters, in lower case.
    var type: String
    var bytes: ByteBuffer

    static func json(_ document: some Encodable) -> HTTPBody {
        HTTPBody(type: MediaType.json, bytes: ByteBuffer(bytes: WireJSON.encode(document)))
    }

    func decodeJSON<Document: Decodable>() throws(WireError) -> Document {
        try WireJSON.decode(from: Data(bytes.readableBytesView))
    }
}

extension HTTPHeaders {
    /// The content type without parameters, in lower case; empty if it is missing.
    var mediaType: String {
        let type = first(name: "Content-Type") ?? ""
        return type.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
    }
}
