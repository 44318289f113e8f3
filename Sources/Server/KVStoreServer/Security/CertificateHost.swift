import Essentials
import KVStoreWire
import NIOCore
import SwiftASN1
import X509

/// A host as certificates name it.
package enum CertificateHost: Sendable, Hashable {
    /// A DNS name in lower case, without a dot at its end.
    case name(String)
    /// The 4 or 16 bytes of an IP address.
    case address([UInt8])

    /// Reads a name or an address, this also in brackets.
    ///
    /// - Throws: `invalidAuthority` for anything else: a wildcard, an address with an interface, a name that is not
    ///   ASCII.
    package init(_ text: String) throws(ServerError) {
        var host = text.lowercased()
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if let bytes = Self.bytes(ofAddress: host) {
            self = .address(bytes)
            return
        }
        if host.hasSuffix(".") { host.removeLast() }
        guard Self.isName(host) else {
            throw ServerError(
                .invalidAuthority,
                "'\(text.printable(scalarLimit: 64))' cannot be in a certificate",
                hint:
                    "use a host name of ASCII letters, digits and hyphens, without *, or an IP address"
            )
        }
        self = .name(host)
    }

    private static func bytes(ofAddress text: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }

    /// A name whose last label is a number is an address for any resolver.
    private static func isName(_ host: String) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        return host.utf8.count <= 253 && labels.last?.allSatisfy(\.isNumber) == false
            && labels.allSatisfy { label in
                label.wholeMatch(of: /[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/) != nil
            }
    }

    /// Whether others have hosts below this name.
    var isShared: Bool {
        if case .name(let name) = self { PublicSuffix.contains(name) } else { false }
    }

    var isAddress: Bool {
        if case .address = self { true } else { false }
    }

    /// Nil for the other kinds of names that a certificate may have, and for a wildcard.
    init?(_ name: GeneralName) {
        switch name {
        case .dnsName(let text):
            guard let host = try? Self(text) else { return nil }  // nil says that it is no host
            self = host
        case .ipAddress(let octets) where [4, 16].contains(octets.bytes.count):
            self = .address(Array(octets.bytes))
        default: return nil
        }
    }

    var generalName: GeneralName {
        switch self {
        case .name(let name): .dnsName(name)
        case .address(let bytes): .ipAddress(ASN1OctetString(contentBytes: bytes[...]))
        }
    }

    /// Whether a certificate that has `name` is one for this host.
    func isNamed(by name: GeneralName) -> Bool {
        if Self(name) == self { return true }
        // The leftmost label may be a wildcard (RFC 9525, section 6.3).
        guard case .dnsName(let pattern) = name, case .name(let host) = self,
            pattern.hasPrefix("*."), let dot = host.firstIndex(of: ".")
        else { return false }
        return host[dot...] == pattern.dropFirst().lowercased()
    }
}

extension CertificateHost: CustomStringConvertible {
    package var description: String {
        switch self {
        case .name(let name): name
        case .address(let bytes):
            // No address has another length.
            (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0))?.ipAddress ?? ""
        }
    }
}
