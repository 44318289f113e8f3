import Essentials
import KVStoreWire

/// The address of a daemon: scheme, host, port and optionally a path prefix, or the socket of one on this machine.
///
/// The text form has an explicit port and no slash at the end: `https://kv.example.org:8722`. That of a socket is
/// `unix:/PATH`.
///
/// ```swift
/// let address = try DaemonAddress("https://kv.example.org:8722")
/// print(address.host, address.isPrivate)
/// ```
public struct DaemonAddress: Sendable, Hashable {
    public enum Scheme: String, Sendable {
        case http, https
        /// HTTP over a Unix domain socket.
        case unix
    }

    public let scheme: Scheme
    /// In lower case; an IPv6 address has no brackets. Empty for a socket.
    public let host: String
    /// 0 for a socket.
    public let port: Int
    /// Empty, or starting with a slash and not ending with one; percent-encoded. Of a socket, the absolute path of its
    /// file.
    public let path: String

    /// - Throws: `CredentialsError`, which does not repeat a user name, password or query.
    public init(_ text: String) throws(CredentialsError) {
        func invalid(_ reason: String) -> CredentialsError {
            CredentialsError("invalid address \(text): \(reason); use the form http://127.0.0.1:8722")
        }
        guard text.utf8.count <= HTTPLimits.addressByteCount, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts = URLComponents(string: text), let schemeText = parts.scheme?.lowercased()
        else { throw invalid("not a URL") }
        guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
            throw CredentialsError(
                "invalid address: it contains a user name, a query or a fragment; " + "give only scheme, host and port")
        }
        guard let scheme = Scheme(rawValue: schemeText) else {
            throw invalid("the scheme is none of http, https and unix")
        }
        if scheme == .unix {
            guard parts.host ?? "" == "", parts.port == nil,
                let path = PercentEncoding.decode(parts.percentEncodedPath), path.hasPrefix("/"), !path.utf8.contains(0)
            else { throw invalid("the path of a socket starts with a slash") }
            self.scheme = scheme
            host = ""
            port = 0
            self.path = PercentEncoding.encode(path: path)
            return
        }
        let rawHost = parts.host ?? ""
        let host = rawHost.hasPrefix("[") ? String(rawHost.dropFirst().dropLast()) : rawHost
        guard !host.isEmpty, host.utf8.allSatisfy(Self.isHostByte) else {
            throw invalid("no valid host")
        }
        let port = parts.port ?? (scheme == .https ? 443 : 80)
        guard (1...65_535).contains(port) else { throw invalid("no valid port") }
        var path = Substring(parts.percentEncodedPath)
        while path.hasSuffix("/") { path.removeLast() }
        self.scheme = scheme
        self.host = host.lowercased()
        self.port = port
        self.path = String(path)
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ":") || byte != UInt8(ascii: "~") && PercentEncoding.isUnreserved(byte)
    }

    /// Host and port, or the path of the socket.
    public var authority: String {
        if scheme == .unix { return path }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Whether the host is this machine.
    public var isLoopback: Bool {
        if scheme == .unix || host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether a token may be sent there: traffic is encrypted or stays on this machine.
    public var isPrivate: Bool { scheme == .https || isLoopback }

    /// The URL of a resource; path segments and query values are percent-encoded here.
    func url(_ segments: [String], query: [(String, String)] = []) -> String {
        let path = segments.map { "/" + PercentEncoding.encode($0) }.joined()
        let pairs = query.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }
        // The HTTP client takes the path of a socket as the host.
        let start =
            scheme == .unix
            ? "http+unix://" + PercentEncoding.encode(PercentEncoding.decode(self.path) ?? "")
            : description
        return start + path + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }
}

extension DaemonAddress: CustomStringConvertible {
    public var description: String {
        scheme == .unix ? "unix:\(path)" : "\(scheme.rawValue)://\(authority)\(path)"
    }
}
