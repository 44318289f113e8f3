import Essentials
import KVStoreWire

/// The body of a request or an answer.
struct HTTPBody {
    /// The media type without parameters, in lower case.
    var type: String
    var bytes: Data

    static func json(_ document: some Encodable) -> HTTPBody {
        HTTPBody(type: MediaType.json, bytes: WireJSON.encode(document))
    }

    func decodeJSON<Document: Decodable>() throws(WireError) -> Document {
        try WireJSON.decode(from: bytes)
    }
}

/// The methods that the daemon's resources have beside reading ones.
enum HTTPVerb: String {
    case get = "GET"
    case post = "POST"
    case patch = "PATCH"
    case delete = "DELETE"
}
