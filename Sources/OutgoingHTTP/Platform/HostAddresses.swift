import Essentials

extension NetworkAddress {
    /// The addresses of a host, as the system knows them, at most 16; none if it does not. Blocks.
    static func all(ofHost host: String) -> [NetworkAddress] {
        var hints = addrinfo()
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
        guard let address = entry.ai_addr else { return nil }
        let raw = UnsafeRawPointer(address)
        switch entry.ai_family {
        case AF_INET where Int(entry.ai_addrlen) >= MemoryLayout<sockaddr_in>.size:
            bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) {
                Array($0)
            }
        case AF_INET6 where Int(entry.ai_addrlen) >= MemoryLayout<sockaddr_in6>.size:
            bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) {
                Array($0)
            }
        default: return nil
        }
        var buffer = [CChar](repeating: 0, count: 64)
        let isText = bytes.withUnsafeBytes {
            inet_ntop(entry.ai_family, $0.baseAddress, &buffer, socklen_t(buffer.count)) != nil
        }
        guard isText else { return nil }
        text = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
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
