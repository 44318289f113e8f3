/// The limits of the network client, each with its unit in its name.
enum HTTPLimits {
    /// Bytes of an answer to a sync; the daemon's pages have less than half of it.
    static let answerByteCount = 4 * 1_024 * 1_024
    /// Bytes of any other answer.
    static let smallAnswerByteCount = 256 * 1_024
    /// Unicode scalars of a network error of unknown kind.
    static let errorScalarCount = 400
    static let credentialsByteCount = 64 * 1_024
    static let tokenByteCount = 1_024
    /// Bytes of an account id or device id.
    static let identifierByteCount = 64
    static let deviceNameByteCount = 256
    static let addressByteCount = 1_024
    /// Concurrent requests to one daemon; further ones wait.
    static let connectionCount = 32
    /// Concurrent live streams from one daemon. More than a daemon permits per device, so that one too many is an
    /// error instead of a wait.
    static let streamConnectionCount = 256
}

/// How long the network client waits.
///
/// ```swift
/// let timeouts = HTTPTimeouts(connect: .seconds(2), request: .seconds(10))
/// let client = DaemonClient(credentials, timeouts: timeouts)
/// ```
public struct HTTPTimeouts: Sendable, Equatable {
    /// For a connection to be established.
    public var connect: Duration
    /// From the start of a request to the last byte of its answer.
    public var request: Duration
    /// Without a byte on an open stream. The daemon sends a heartbeat every 15 s.
    public var silence: Duration

    public init(connect: Duration = .seconds(5), request: Duration = .seconds(30), silence: Duration = .seconds(40)) {
        self.connect = connect
        self.request = request
        self.silence = silence
    }
}
