import Essentials

/// A host and port to listen on.
///
/// ```swift
/// guard let address = ListenAddress("[::1]:8722") else { return }
/// print(address.host, address.isLoopback, address.url())      // ::1 true http://[::1]:8722
/// ```
public struct ListenAddress: Sendable, Hashable {
    /// A host name or an IP address, without brackets.
    public var host: String
    /// The port; 0 lets the system choose a free one.
    public var port: Int

    /// Creates an address.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Parses `HOST:PORT`, with an IPv6 address in brackets. Nil also for a host that no system could listen on.
    public init?(_ text: String) {
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = String(text[text.index(after: text.startIndex)..<end])
            rest = text[text.index(after: end)...]
            guard rest.hasPrefix(":"), Self.isIPv6(host) else { return nil }
        } else {
            guard let colon = text.lastIndex(of: ":") else { return nil }
            host = String(text[..<colon])
            rest = text[colon...]
            guard Self.isNameOrIPv4(host) else { return nil }
        }
        let digits = rest.dropFirst()
        guard digits.allSatisfy(\.isNumber), let port = UInt16(digits) else { return nil }
        self.port = Int(port)
    }

    /// With an interface after `%` or without.
    private static func isIPv6(_ host: String) -> Bool {
        var address = in6_addr()
        let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        return inet_pton(AF_INET6, String(parts[0]), &address) == 1 && parts.last?.isEmpty == false
    }

    /// What the system could resolve: labels of letters, digits, hyphens and underscores (RFC 1123, section 2.1), or
    /// four numbers. A name whose last label is a number is an address for any resolver.
    private static func isNameOrIPv4(_ host: String) -> Bool {
        var labels = host.split(separator: ".", omittingEmptySubsequences: false)
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        if labels.last?.utf8.allSatisfy({ (0x30...0x39).contains($0) }) == true {
            var address = in_addr()
            return inet_pton(AF_INET, host, &address) == 1
        }
        return host.utf8.count <= 253
            && labels.allSatisfy { label in
                label.wholeMatch(of: /[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?/) != nil
            }
    }

    /// Any free port of the loopback interface.
    public static let anyLoopbackPort = ListenAddress(host: "127.0.0.1", port: 0)

    /// Whether only programs on this machine can connect.
    public var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        var address = in_addr()
        guard inet_pton(AF_INET, host, &address) == 1 else { return false }
        return UInt32(bigEndian: address.s_addr) >> 24 == 127
    }

    /// `http://HOST:PORT`, or with `https`.
    public func url(isEncrypted: Bool = false) -> String {
        (isEncrypted ? "https://" : "http://") + description
    }
}

extension ListenAddress: CustomStringConvertible {
    /// `HOST:PORT`, as ``init(_:)`` reads it.
    public var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
