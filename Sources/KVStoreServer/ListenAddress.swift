import Essentials

/// A host and port to listen on.
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

    /// Parses `HOST:PORT`, with an IPv6 address in brackets.
    public init?(_ text: String) {
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = String(text[text.index(after: text.startIndex)..<end])
            rest = text[text.index(after: end)...]
            guard rest.hasPrefix(":") else { return nil }
        } else {
            guard let colon = text.lastIndex(of: ":") else { return nil }
            host = String(text[..<colon])
            rest = text[colon...]
            guard !host.contains(":") else { return nil }
        }
        guard !host.isEmpty, let port = UInt16(rest.dropFirst()) else { return nil }
        self.port = Int(port)
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
