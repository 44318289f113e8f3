import ArgumentParser
import Foundation

/// HOST:PORT to listen on; an IPv6 address stands in brackets.
struct ListenAddress: Sendable, Equatable, ExpressibleByArgument {
    var host: String
    /// 0 lets the system choose.
    var port: Int

    static let standard = ListenAddress(host: "127.0.0.1", port: 8722)

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    init?(argument: String) {
        let text: Substring
        if argument.hasPrefix("[") {
            guard let end = argument.firstIndex(of: "]") else { return nil }
            host = String(argument[argument.index(after: argument.startIndex)..<end])
            text = argument[argument.index(after: end)...]
            guard text.hasPrefix(":") else { return nil }
        } else {
            guard let colon = argument.lastIndex(of: ":") else { return nil }
            host = String(argument[..<colon])
            text = argument[colon...]
            guard !host.contains(":") else { return nil }
        }
        guard !host.isEmpty, let port = UInt16(text.dropFirst()) else { return nil }
        self.port = Int(port)
    }

    var defaultValueDescription: String { description }

    /// Whether only programs of this machine can reach it.
    var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        var address = in_addr()
        guard inet_pton(AF_INET, host, &address) == 1 else { return false }
        return UInt32(bigEndian: address.s_addr) >> 24 == 127
    }

    /// As a user writes it into a URL.
    func url(port: Int) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

extension ListenAddress: CustomStringConvertible {
    var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
