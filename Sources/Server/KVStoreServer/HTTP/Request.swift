import Essentials
import KVStoreEssentials
package import KVStoreCore
package import KVStoreWire
package import NIOCore
package import NIOHTTP1

extension HTTPMethod {
    var hasRequestBody: Bool { [.PUT, .POST, .PATCH].contains(self) }
}

extension HTTPRequestHead {
    /// Without the query.
    package var path: Substring {
        uri[..<(uri.utf8.firstIndex(of: UInt8(ascii: "?")) ?? uri.endIndex)]
    }
}

/// The header fields that matter, found in one pass.
package struct RequestFields {
    private(set) var authorization = ""
    /// A web page's, if `authorization` is from it and the secret of the page's scripts.
    private(set) var sessionCookie: Substring?
    /// Whether this is from a page that has lost its cookie.
    private(set) var lacksCookie = false
    package var accept: String?
    package var host: String?
    package var origin: String?
    /// How a browser relates the page that makes the request to this server.
    package var fetchSite: String?
    var contentType: String?
    var contentEncoding: String?
    var contentLength: Int?
    package var lastEventID: String?
    /// The entity tags of what the client has.
    package var ifNoneMatch: String?
    /// The entity tags of what the client expects to change.
    private(set) var ifMatch: String?
    var acceptEncoding: String?
    /// Which the device takes for its own.
    package var account: String?
    var hasTransferEncoding = false
    /// A transfer coding other than `chunked`, about which an intermediary may think differently.
    var hasUnknownFraming = false
    var hasSeveralHosts = false
    var expectsContinue = false
    var hasUpgrade = false

    package init(_ headers: HTTPHeaders) {
        var cookie: Substring?
        var secret: String?
        for (name, value) in headers {
            // The lengths differ, so at most one name is compared; the first of several fields counts.
            switch name.utf8.count {
            case 4 where name.isField("host"):
                hasSeveralHosts = host != nil
                host = host ?? value
            case 6 where name.isField("origin"): origin = origin ?? value
            case 6 where name.isField("accept"): accept = accept ?? value
            case 6 where name.isField("cookie"): cookie = cookie ?? PageSession.cookie(in: value)
            case 6 where name.isField("expect"):
                expectsContinue = value.lowercased() == "100-continue"
            case 7 where name.isField("upgrade"): hasUpgrade = true
            case 8 where name.isField("if-match"): ifMatch = ifMatch ?? value
            case 12 where name.isField("content-type"): contentType = contentType ?? value
            case 13 where name.isField("authorization"):
                if authorization.isEmpty { authorization = value }
            case 13 where name.isField("last-event-id"): lastEventID = lastEventID ?? value
            case 13 where name.isField("if-none-match"): ifNoneMatch = ifNoneMatch ?? value
            case 14 where name.isField("sec-fetch-site"): fetchSite = fetchSite ?? value
            case 14 where name.isField("content-length"):
                contentLength = contentLength ?? Int(value)
            case 15 where name.isField("accept-encoding"):
                acceptEncoding = acceptEncoding ?? value
            case 16 where name.isField("content-encoding"):
                contentEncoding = contentEncoding ?? value
            case 16 where name.isField("ubiquity-account"): account = account ?? value
            case 16 where name.isField("ubiquity-session"): secret = secret ?? value
            case 17 where name.isField("transfer-encoding"):
                hasUnknownFraming = hasTransferEncoding || value.lowercased() != "chunked"
                hasTransferEncoding = true
            default: break
            }
        }
        lacksCookie = secret != nil && cookie == nil && authorization.isEmpty
        // A request of another site has the cookie too, if a browser does not know or obey SameSite.
        if authorization.isEmpty, let cookie, let secret, fetchSite == "same-origin" {
            authorization = PageSession.authorization(cookie: cookie, secret: secret)
            sessionCookie = cookie
        }
    }

    /// The content type without parameters, in lower case.
    package var mediaType: String? {
        guard let contentType else { return nil }
        if contentType == MediaType.bytes || contentType == MediaType.sync || contentType == MediaType.json {
            return contentType
        }
        return contentType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
    }

    /// Whether a browser sent the request for a page of another site.
    package var hasForeignOrigin: Bool {
        guard let origin else { return false }
        guard let host, let colon = origin.utf8.firstIndex(of: UInt8(ascii: ":")) else { return true }
        return origin[colon...].lowercased() != "://" + host.lowercased()
    }

    /// Whether the client takes an answer in the format that ``Zlib`` writes.
    package var acceptsDeflate: Bool {
        acceptEncoding?.split(separator: ",").prefix(16).contains { $0.drop { $0 == " " } == "deflate" } ?? false
    }

    /// Whether a body follows.
    var hasBody: Bool { hasTransferEncoding || (contentLength ?? 0) != 0 }
}

extension String {
    /// Whether this is the name of a header field, which `lowercased` gives in lower case.
    fileprivate func isField(_ lowercased: StaticString) -> Bool {
        let expected = UnsafeBufferPointer(start: lowercased.utf8Start, count: lowercased.utf8CodeUnitCount)
        return utf8.elementsEqual(expected) { byte, expected in byte | 0x20 == expected | 0x20 }
    }
}

/// A request whose device is known.
package struct Request {
    package let method: HTTPMethod
    package let fields: RequestFields
    /// The path with the query.
    package let target: String
    package let resource: Resource
    let query: Substring
    /// Nil for resources that need no token.
    package var device: Device?
    /// The client's, for limits by address.
    let address: String
    package var body = ByteBuffer()

    /// - Parameter query: what follows the `?` in `target`.
    package init(
        method: HTTPMethod, fields: RequestFields, target: String, resource: Resource,
        query: Substring, device: Device?, address: String, body: ByteBuffer = ByteBuffer()
    ) {
        self.method = method
        self.fields = fields
        self.target = target
        self.resource = resource
        self.query = query
        self.device = device
        self.address = address
        self.body = body
    }

    /// The authenticated device, if it has the scope.
    package func caller(_ scope: DeviceScope) throws(Problem) -> Device {
        guard let device else { throw .unauthorized }
        guard device.scopes.contains(scope) else { throw .missing(scope) }
        return device
    }

    /// The store with the name in the path, if the device has the scope and may see the store.
    package func store(_ segment: Substring, _ scope: DeviceScope) throws(Problem) -> StoreID {
        try Self.store(segment, of: try caller(scope))
    }

    /// The store with the name in a path, if the device may see it.
    static func store(_ segment: Substring, of device: Device) throws(Problem) -> StoreID {
        guard let name = decode(segment), StoreConfiguration.isValidStoreName(name) else { throw .badStoreName }
        guard device.maySee(store: name) else { throw .unknownStore }
        return StoreID(account: device.account, name: name)
    }

    /// Throws unless the body is JSON, or of no type.
    package func checkJSON() throws(Problem) {
        guard fields.mediaType ?? MediaType.json == MediaType.json else { throw .mediaType(MediaType.json) }
    }

    package func key(_ segment: Substring) throws(Problem) -> StoreKey {
        guard let text = Self.decode(segment), KeyProfile.standard.allows(StoreKey(text)) else { throw .badKey }
        return StoreKey(text)
    }

    /// The first value of a name in the query, as it is there.
    package func parameter(_ name: String) -> Substring? {
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts[0] == name { return parts.count > 1 ? parts[1] : "" }
        }
        return nil
    }

    /// The text of a path segment; nil unless it is percent-encoded UTF-8 in ASCII.
    package static func decode(_ segment: Substring) -> String? {
        guard segment.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        guard segment.utf8.contains(UInt8(ascii: "%")) else { return String(segment) }
        return PercentEncoding.decode(segment)
    }
}

extension HTTPServerRequestPart {
    /// What it takes in memory, estimated.
    var memoryByteCount: Int {
        switch self {
        case .head(let head): 512 + head.uri.utf8.count + 96 * head.headers.count
        case .body(let bytes): bytes.readableBytes
        case .end: 16
        }
    }
}
