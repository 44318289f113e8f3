import Crypto
import Essentials

/// An Apple configuration profile that offers to install an authority (Apple, "Device Management", `CertificateRoot`).
struct ConfigurationProfile {
    let authority: CertificateAuthority

    static let type = "application/x-apple-aspen-config"

    /// A property list in XML. The same authority always gives the same bytes, so installing it again replaces it.
    var text: String {
        let digest = Array(SHA256.hash(data: authority.der))
        // No text needs to be escaped: names and addresses have been checked.
        let hosts = authority.hosts.map(\.description).joined(separator: ", ")
        let content = Data(authority.der).base64EncodedString()
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
                <key>PayloadContent</key>
                <array>
                    <dict>
                        <key>PayloadCertificateFileName</key>
                        <string>authority.crt</string>
                        <key>PayloadContent</key>
                        <data>\(content)</data>
                        <key>PayloadDisplayName</key>
                        <string>\(authority.name)</string>
            \(Self.identity("com.apple.security.root", digest[..<16], indentation: 3))
                    </dict>
                </array>
                <key>PayloadDescription</key>
                <string>Lets this device trust kvsd at \(hosts), and nothing else.</string>
                <key>PayloadDisplayName</key>
                <string>\(authority.name)</string>
            \(Self.identity("Configuration", digest[16...], indentation: 1))
            </dict>
            </plist>

            """
    }

    private static func identity(_ type: String, _ bytes: ArraySlice<UInt8>, indentation: Int) -> String {
        let uuid = uuid(Array(bytes))
        let start = String(repeating: "    ", count: indentation)
        return """
            \(start)<key>PayloadIdentifier</key>
            \(start)<string>kvsd.authority.\(uuid)</string>
            \(start)<key>PayloadType</key>
            \(start)<string>\(type)</string>
            \(start)<key>PayloadUUID</key>
            \(start)<string>\(uuid)</string>
            \(start)<key>PayloadVersion</key>
            \(start)<integer>1</integer>
            """
    }

    /// A UUID of 16 bytes with the version for those of an application's own making (RFC 9562, section 5.8).
    private static func uuid(_ bytes: [UInt8]) -> String {
        var bytes = bytes
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.map { $0.hexadecimal(digits: 2).uppercased() }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }.joined(separator: "-")
    }
}
