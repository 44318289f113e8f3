import Essentials

/// daemon.json in the data directory of a running daemon: how to reach it. For commands of the same user, as whoever
/// reads it can add devices.
package struct DaemonStatus: Sendable, Equatable, Codable {
    private var version = 1
    package var processID: Int32
    /// Where the daemon listens: a host name or an IP address, without brackets.
    package var host: String
    package var port: Int
    /// The path of the Unix domain socket that speaks plain HTTP; nil if it could not be made.
    package var socket: String?
    /// The file of the certificate; nil without TLS.
    package var certificate: String?
    /// The fingerprint of the certificate's key when the daemon started.
    package var key: String?
    /// A code for this machine, valid while the daemon runs and as often as it is used.
    package var code: String

    package static let fileName = "daemon.json"
    package static let byteCount = 16_384

    package init(
        processID: Int32, host: String, port: Int, socket: String?, certificate: String?,
        key: KeyFingerprint?, code: PairingCode
    ) {
        self.processID = processID
        self.host = host
        self.port = port
        self.socket = socket
        self.certificate = certificate
        self.key = key?.description
        self.code = code.text
    }

    package var isRunning: Bool { ProcessID.isRunning(processID, ofAnyUser: true) }

    /// The line with which a user of this machine joins; nil for an invalid file. It prefers the socket: when the
    /// daemon does not run, any user could listen on its port.
    package var line: PairingLine? {
        guard let code = PairingCode(code) else { return nil }
        if let socket {
            return PairingLine(url: "unix:" + PercentEncoding.encode(path: socket), code: code, key: nil)
        }
        let host =
            switch host {
            case "0.0.0.0": "127.0.0.1"
            case "::": "[::1]"
            default: host.contains(":") ? "[\(host)]" : host
            }
        let scheme = certificate == nil ? "http" : "https"
        return PairingLine(url: "\(scheme)://\(host):\(port)", code: code, key: key.flatMap { KeyFingerprint($0) })
    }
}
