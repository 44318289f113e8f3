import Foundation

/// Where a daemon listens: scheme, host, port and perhaps a path in front of its own.
///
/// The text form is the one that was given, without slashes at the end.
public struct DaemonAddress: Sendable, Hashable {
    public enum Scheme: String, Sendable {
        case http, https
    }

    /// Why a text is no address.
    public enum Problem: Error, Sendable, Equatable {
        case notAnAddress(String)
        case scheme(String)
        case holdsMore(String)
    }

    public let scheme: Scheme
    /// Without brackets for IPv6.
    public let host: String
    public let port: Int
    /// Empty, or starting with a slash and not ending with one.
    public let path: String

    public init(_ text: String) throws(Problem) {
        guard text.utf8.count <= HTTPLimits.addressByteCount,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts = URLComponents(string: text), let schemeText = parts.scheme?.lowercased()
        else { throw .notAnAddress(text) }
        guard let scheme = Scheme(rawValue: schemeText) else { throw .scheme(text) }
        guard let rawHost = parts.host, !rawHost.isEmpty else { throw .notAnAddress(text) }
        guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil
        else {
            // Not repeated: it may be a password.
            throw .holdsMore("\(schemeText)://…@\(rawHost)")
        }
        let host = rawHost.hasPrefix("[") ? String(rawHost.dropFirst().dropLast()) : rawHost
        let port = parts.port ?? (scheme == .https ? 443 : 80)
        guard (1...65_535).contains(port), Self.isHost(host) else { throw .notAnAddress(text) }
        var path = Substring(parts.percentEncodedPath)
        while path.hasSuffix("/") { path.removeLast() }
        self.scheme = scheme
        self.host = host.lowercased()
        self.port = port
        self.path = String(path)
    }

    private static func isHost(_ host: String) -> Bool {
        host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"), UInt8(ascii: ":"):
                true
            default: false
            }
        }
    }

    /// Host and port, as errors show them.
    public var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether traffic stays on this machine.
    public var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether a token may go there: encrypted, or without leaving this machine.
    public var isPrivate: Bool { scheme == .https || isLoopback }

    /// The address of a resource. Path parts and query values are percent-encoded here.
    func url(_ parts: [String], query: [(String, String)] = []) -> String {
        let tail = parts.map { "/" + Self.encoded($0) }.joined()
        let pairs = query.map { "\($0.0)=\(Self.encoded($0.1))" }.joined(separator: "&")
        return description + tail + (pairs.isEmpty ? "" : "?" + pairs)
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"), UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0" + digits : "%" + digits
            }
        }
    }
}

extension DaemonAddress: CustomStringConvertible {
    public var description: String { "\(scheme.rawValue)://\(authority)\(path)" }
}

extension DaemonAddress.Problem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAnAddress(let text):
            "\(text) is not an address; write it like http://127.0.0.1:8722"
        case .scheme(let text): "\(text) does not start with http:// or https://"
        case .holdsMore(let text):
            "\(text) holds a user name, a query or a fragment; give scheme, host and port only"
        }
    }
}
