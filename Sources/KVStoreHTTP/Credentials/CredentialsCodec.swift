import Foundation

/// Credentials as the JSON document of version 1: `version`, `daemon`, `token`, `account`, `deviceID`,
/// `deviceName`, and `insecure` where plain text has been allowed. Unknown fields are ignored.
enum CredentialsCodec {
    static let version = 1

    static func encode(_ credentials: Credentials) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let wire = Wire(
            version: version, daemon: credentials.daemon.description,
            token: credentials.token.secret, account: credentials.account,
            deviceID: credentials.deviceID, deviceName: credentials.deviceName,
            insecure: credentials.isPlainTextAllowed ? true : nil)
        return try encoder.encode(wire) + Data("\n".utf8)
    }

    static func decode(_ data: Data) throws(CredentialsProblem) -> Credentials {
        let wire: Wire
        do {
            wire = try JSONDecoder().decode(Wire.self, from: data)
        } catch {
            throw .document("not a credentials document: \(DecodingFailure.words(error))")
        }
        guard wire.version == version else {
            throw .document("version \(wire.version); this program knows version \(version)")
        }
        guard let token = AccessToken(wire.token) else {
            throw .field("token", "is not one")
        }
        let daemon: DaemonAddress
        do throws(DaemonAddress.Problem) {
            daemon = try DaemonAddress(wire.daemon)
        } catch {
            throw .address(error)
        }
        return try Credentials(
            daemon: daemon, token: token, account: wire.account, deviceID: wire.deviceID,
            deviceName: wire.deviceName, isPlainTextAllowed: wire.insecure ?? false)
    }

    private struct Wire: Codable {
        var version: Int
        var daemon: String
        var token: String
        var account: String
        var deviceID: String
        var deviceName: String
        var insecure: Bool?
    }
}
