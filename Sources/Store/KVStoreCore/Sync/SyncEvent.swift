package import Essentials

/// An event of a store's live stream.
///
/// For an example see `SyncTransport`.
public enum SyncEvent: Sendable, Equatable {
    /// The stream is established.
    case opened
    /// What the daemon sent together, at least one change. They come in ascending order of their sequence numbers, also
    /// from one event to the next, and are notified together.
    case changes([SequencedRecord])
    /// The stream cannot continue from its cursor: sync again. The stream ends.
    case reset
    case heartbeat

    /// A single change.
    public static func change(_ change: SequencedRecord) -> SyncEvent { .changes([change]) }
}

/// Why a round trip failed.
///
/// For an example see `SyncTransport`.
public enum SyncTransportError: Error, Sendable, Equatable {
    /// There is no connection, or it broke: offline, refused, timed out. The text names the address and the cause.
    case unreachable(String)
    /// The daemon rejected the token.
    case unauthorized(String)
    /// The daemon asks the client to wait.
    case busy(retryAfterSeconds: Double?)
    /// The daemon answered with an error: its status, stable code and text.
    case refused(status: Int, code: String, message: String)
    /// The answer violates the protocol.
    case malformed(String)

    /// Whether the store does not exist and the device may not create it.
    var isUnknownStore: Bool {
        if case .refused(404, "unknown-store", _) = self { true } else { false }
    }

    /// Whether the device may read and not write.
    var isReadOnly: Bool {
        if case .refused(403, "read-only", _) = self { true } else { false }
    }

    /// Whether it concerns the changes of a request, and says nothing about reading.
    var concernsChanges: Bool {
        switch self {
        case .refused(400, _, _), .refused(413, _, _), .refused(507, _, _): true
        case .refused(503, let code, _): Self.codesOfFailedWrites.contains(code)
        default: isReadOnly
        }
    }

    /// Whether a part of the changes may be accepted where all of them were not.
    var mayAcceptParts: Bool {
        if case .refused(503, _, _) = self { false } else { concernsChanges }
    }

    /// Those answers with 503 that concern writing alone have these; docs/protocol.md lists them.
    package static let codesOfFailedWrites: Set = ["database-failed", "disk-failed", "outcome-unknown", "write-failed"]
}

extension SyncTransportError: ReportableError {
    package var exitStatus: ExitStatus {
        switch self {
        case .unauthorized, .refused(status: 403, _, _), .refused(status: 410, _, _): .noPermission
        case .refused, .unreachable, .busy, .malformed: .unavailable
        }
    }
}

extension SyncTransportError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable(let text): text
        case .unauthorized(let text): "the daemon rejected the token: \(text)"
        case .busy(let seconds):
            "the daemon is busy" + (seconds.map { "; retry after \(Self.wholeSeconds($0)) s" } ?? "")
        case .refused(let status, let code, let message): "the daemon answered \(status) (\(code)): \(message)"
        case .malformed(let text): "invalid answer from the daemon: \(text)"
        }
    }

    /// A transport may report any number.
    private static func wholeSeconds(_ seconds: Double) -> Int {
        seconds.isNaN ? 0 : Int(min(max(seconds, 0), 86_400).rounded(.up))
    }
}
