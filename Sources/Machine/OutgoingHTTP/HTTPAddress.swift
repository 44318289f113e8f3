import Essentials

/// Where a request goes.
package struct HTTPAddress: Sendable, Equatable {
    package let url: String
    /// In lower case, without the brackets of an IPv6 address.
    package let host: String
    let isEncrypted: Bool
    let port: Int
    private let path: String
    private let query: String?

    private static let byteLimit = 2_048

    /// Nil unless it is a URL of HTTP with a host, and without a user.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.byteLimit,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["https", "http"].contains(scheme), let name = parts.host, !name.isEmpty,
            parts.user == nil, parts.password == nil,
            parts.port.map((1...65_535).contains) ?? true
        else { return nil }
        url = text
        var host = name.lowercased()
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        self.host = host.hasSuffix(".") ? String(host.dropLast()) : host
        isEncrypted = scheme == "https"
        port = parts.port ?? (isEncrypted ? 443 : 80)
        path = parts.percentEncodedPath
        query = parts.percentEncodedQuery
    }

    /// Where an answer redirects to.
    func redirected(to location: String) -> HTTPAddress? {
        guard location.utf8.count <= Self.byteLimit, let base = URL(string: url),
            let target = URL(string: location, relativeTo: base)
        else { return nil }
        return HTTPAddress(target.absoluteString)
    }

    func hasOrigin(of other: HTTPAddress) -> Bool {
        host == other.host && port == other.port && isEncrypted == other.isEncrypted
    }

    /// Scheme, host and port, the port unless it is the usual one (RFC 6454, section 6.2).
    package var origin: String { (isEncrypted ? "https://" : "http://") + authority }

    /// Whether a text may be one of the names of `isNamed`.
    package static func isName(_ text: String) -> Bool {
        text.utf8.count <= 300
            && text.wholeMatch(
                of: /(?:\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._-]+)(?::[0-9]{1,5})?|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+/
            ) != nil
    }

    /// Whether one of the names "host", for the usual port, or "host:port" is this one. They are in lower case.
    func isNamed(by names: Set<String>) -> Bool {
        let bare = host.contains(":") ? "[\(host)]" : host
        return names.contains(authority) || names.contains("\(bare):\(port)")
            || authority == bare && names.contains(host)
    }

    /// The field `Host` of a request.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isEncrypted ? 443 : 80) ? name : name + ":\(port)"
    }

    /// What a request asks for.
    var target: String { (path.isEmpty ? "/" : path) + (query.map { "?" + $0 } ?? "") }

    /// What may be secret in it: all but the host.
    package var secretParts: [String] { [path, query].compactMap { $0 } + path.split(separator: "/").map(String.init) }
}
