import Essentials

/// The bytes of an address: 4 of IPv4 or 16 of IPv6.
struct NetworkAddress: Sendable, Equatable {
    let bytes: [UInt8]
    /// As numbers.
    let text: String

    /// Whether it is anything but an address on the internet: this machine, a private network, a link, a group,
    /// reserved. What embeds an IPv4 address is judged by that. The registries are those of RFC 6890 and its updates.
    var isPrivate: Bool { bytes.count == 4 ? Self.isPrivate(v4: bytes) : Self.isPrivate(v6: bytes) }

    private static func isPrivate(v4 bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (10, _, _), (127, _, _): true
        case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _): true
        case (192, 0, 0), (192, 0, 2), (198, 18...19, _), (198, 51, 100), (203, 0, 113): true
        case (224..., _, _): true
        default: false
        }
    }

    private static func isPrivate(v6 bytes: [UInt8]) -> Bool {
        guard bytes.count == 16 else { return true }
        let isZero = bytes.prefix(10).allSatisfy { $0 == 0 }
        // Mapped and compatible IPv4, "::" and "::1" among them.
        if isZero, [0, 0xFF].contains(bytes[10]), bytes[10] == bytes[11] { return isPrivate(v4: Array(bytes[12...])) }
        // NAT64.
        if Array(bytes.prefix(12)) == [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0] {
            return isPrivate(v4: Array(bytes[12...]))
        }
        // 6to4.
        if bytes[0] == 0x20, bytes[1] == 0x02 { return isPrivate(v4: Array(bytes[2..<6])) }
        // Only 2000::/3 is on the internet; of it, not Teredo and documentation.
        guard bytes[0] & 0xE0 == 0x20 else { return true }
        let prefix = (bytes[0], bytes[1], bytes[2], bytes[3])
        return prefix == (0x20, 0x01, 0, 0) || prefix == (0x20, 0x01, 0x0D, 0xB8)
    }
}
