/// Every limit of the network client, with its unit in its name.
enum HTTPLimits {
    /// Bytes of an answer to `sync`; the daemon splits at about a third of that.
    static let answerByteCount = 4 * 1_024 * 1_024
    /// Bytes of an answer that carries an error, or a small document.
    static let smallAnswerByteCount = 256 * 1_024
    /// Bytes of one line of the event stream, and of one event's data.
    static let eventByteCount = 2 * 1_024 * 1_024
    /// Bytes of a name or id of an event.
    static let eventNameByteCount = 1_024
    /// Characters of a text of the daemon's that an error shows.
    static let messageCharacterCount = 400
    static let problemCodeCharacterCount = 64
    /// Bytes of the credentials file.
    static let credentialsByteCount = 64 * 1_024
    /// Bytes of a token, an account id, a device id or name.
    static let tokenByteCount = 1_024
    static let identifierByteCount = 64
    static let deviceNameByteCount = 256
    static let addressByteCount = 1_024
    /// Connections to one daemon for requests at a time; further requests wait.
    static let connectionCount = 32
    /// Connections to one daemon for live streams at a time, each of which has one as long as it lives.
    /// More than a daemon gives a device, so that one too many is told so instead of waiting.
    static let streamConnectionCount = 256
    /// Seconds that a busy daemon may ask to wait.
    static let retryAfterSeconds = 86_400.0
}

/// How long the network client waits.
public struct HTTPTimeouts: Sendable, Equatable {
    /// Until a connection is made.
    public var connect: Duration
    /// From the start of a request to the last byte of its answer.
    public var request: Duration
    /// Without a byte on an open stream. The daemon sends one at least every 15 s.
    public var silence: Duration

    public init(
        connect: Duration = .seconds(5), request: Duration = .seconds(30),
        silence: Duration = .seconds(40)
    ) {
        self.connect = connect
        self.request = request
        self.silence = silence
    }
}
