import Essentials

extension NetworkAddress {
    /// The addresses of a host, as the system knows them, at most 16; none if it does not. Blocks.
    static func all(ofHost host: String) -> [NetworkAddress] { all(ofHost: host, flags: 0) }

    /// Nil for a name. Performs no lookup.
    init?(numbers: String) {
        guard let address = Self.all(ofHost: numbers, flags: AI_NUMERICHOST).first else { return nil }
        self = address
    }

    private static func all(ofHost host: String, flags: Int32) -> [NetworkAddress] {
        var hints = addrinfo()
        hints.ai_flags = flags
        // For one kind of socket, so that each address is there once.
        hints.ai_socktype = addrinfo.stream
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [NetworkAddress] = []
        var next = list
        while let entry = next, addresses.count < 16 {
            if let address = NetworkAddress(entry.pointee) { addresses.append(address) }
            next = entry.pointee.ai_next
        }
        return addresses
    }

    private init?(_ entry: addrinfo) {
        var name = [CChar](repeating: 0, count: 64)
        guard
            getnameinfo(entry.ai_addr, entry.ai_addrlen, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
        var bytes = [UInt8](repeating: 0, count: entry.ai_family == AF_INET ? 4 : 16)
        // Not with the zone of a link, which no other machine is in.
        guard inet_pton(entry.ai_family, text, &bytes) == 1 else { return nil }
        self.bytes = bytes
    }
}

extension addrinfo {
    fileprivate static var stream: Int32 {
        #if os(Linux)
            Int32(SOCK_STREAM.rawValue)
        #else
            SOCK_STREAM
        #endif
    }
}
