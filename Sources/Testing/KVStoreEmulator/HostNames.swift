import KVStoreServer
import KVStoreWire

/// The names and addresses of an emulator in the `Host` field of requests, besides those of the loopback interface.
struct HostNames: Sendable {
    private let names: Set<String>

    /// - Throws: for what no URL has as its host. An IPv6 address may have brackets.
    init(_ hosts: [String]) throws(ServerError) {
        var names: Set<String> = []
        for host in hosts {
            let name = Self.withoutBrackets(host)
            guard ListenAddress(ListenAddress(host: name, port: 80).description) != nil else {
                throw ServerError(
                    .cannotListen, "'\(host.printable(scalarLimit: 128))' is not a host",
                    hint: "use a name or an address without scheme and port")
            }
            names.insert(name.lowercased())
        }
        self.names = names
    }

    static func withoutBrackets(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    var isEmpty: Bool { names.isEmpty }

    /// - Parameter field: the value of a `Host` field.
    func contains(_ field: String) -> Bool {
        let text = field.hasSuffix("]") || !field.contains(":") ? field + ":80" : field
        guard let address = ListenAddress(text) else { return false }
        return address.isLoopback || names.contains(address.host.lowercased())
    }
}

/// The origins of pages under test that may use an emulator from a browser.
struct AllowedOrigins: Sendable {
    private let origins: Set<String>

    /// - Throws: for what no browser sends as an origin.
    init(_ origins: [String]) throws(ServerError) {
        for origin in origins {
            let host = ["http://", "https://"].first { origin.hasPrefix($0) }.map { origin.dropFirst($0.count) }
            let address = host.map { $0.contains(":") ? String($0) : "\($0):80" }
            guard origin == origin.lowercased(), let address, ListenAddress(address) != nil else {
                throw ServerError(
                    .cannotListen, "'\(origin.printable(scalarLimit: 128))' is not an origin",
                    hint: "use one such as http://localhost:5173, without a path")
            }
        }
        self.origins = Set(origins)
    }

    func contains(_ origin: String) -> Bool { origins.contains(origin) }
}

extension ListenAddress {
    /// Where programs on this machine connect.
    var localHost: String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }
}
