/// A device that may talk to the server, and what it may do.
package struct Device: Sendable, Equatable {
    /// Sixteen lower-case hexadecimal digits, never given twice.
    package var id: String
    package var name: String
    package var account: String
    package var scopes: Set<DeviceScope>
    /// The only stores it sees; nil for all of its account.
    package var stores: [String]?
    /// Milliseconds since 1970.
    package var created: Int64
    var digest: TokenDigest

    func mayUse(store: String) -> Bool { stores?.contains(store) ?? true }
}

package enum DeviceScope: String, Sendable, CaseIterable, Codable {
    case read, write
}

/// Names that people give to devices, accounts and stores.
enum DaemonNames {
    /// Letters, digits, dot, underscore, hyphen of ASCII; not empty, not starting with a dot.
    static func isValidStore(_ name: some StringProtocol) -> Bool {
        isPlain(name, byteCount: 128)
    }

    static func isValidAccount(_ name: some StringProtocol) -> Bool {
        isPlain(name, byteCount: 64)
    }

    /// Any text of one line and at most 64 bytes.
    static func isValidDevice(_ name: some StringProtocol) -> Bool {
        guard !name.isEmpty, name.utf8.count <= 64, name.first != " ", name.last != " " else {
            return false
        }
        return name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned,
                .privateUse:
                false
            default: true
            }
        }
    }

    private static func isPlain(_ name: some StringProtocol, byteCount: Int) -> Bool {
        guard (1...byteCount).contains(name.utf8.count), name.utf8.first != UInt8(ascii: ".")
        else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }
}
