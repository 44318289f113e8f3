import Essentials

/// daemon.json in the data directory of a running daemon: how to reach it. For commands of the same user.
package struct DaemonStatus: Sendable, Equatable, Codable {
    private var version = 1
    package var processID: Int32
    /// Where the daemon listens: a host name or an IP address, without brackets.
    package var host: String
    package var port: Int
    /// The file of the certificate; nil without TLS.
    package var certificate: String?

    package init(processID: Int32, host: String, port: Int, certificate: String?) {
        self.processID = processID
        self.host = host
        self.port = port
        self.certificate = certificate
    }
}
