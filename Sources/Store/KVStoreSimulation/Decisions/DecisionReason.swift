/// Which of two values of a key won.
///
/// For an example see `CloudDecision`.
public enum DecisionWinner: String, Sendable, Equatable {
    case incoming
    case present
}

/// Why a value won.
///
/// For an example see `CloudDecision`.
public enum DecisionReason: Sendable, Equatable {
    /// There was no other value.
    case nothingThere
    /// The winner was written later.
    case greaterStamp
    /// The stamps are equal, as after a device's files were copied; the greater bytes win everywhere.
    case greaterBytes
    /// The loser was set on a device before its first download.
    case provisionalGaveWay
    /// It was set before the first download, and the cloud has no value of the key.
    case provisionalKept
    /// The cloud has forgotten a removal that the device still knew, and the cloud's value counts.
    case removalForgotten
    /// The cloud removed the value so long ago that it has forgotten the removal.
    case goneFromCloud
    /// The value exceeds the quota, in bytes or keys; nil for the device's own limits.
    case refusedForQuota(limit: Int64?)
    /// The stamp is more than a minute ahead of the cloud's clock; the device reissues it.
    case refusedForClock
    /// The key is invalid.
    case refusedForKey
    /// The newer value did not fit into the cloud's answer; the device sends its own again.
    case refusedForNow
}

extension DecisionReason {
    /// The name of the case.
    package var name: String {
        switch self {
        case .nothingThere: "nothingThere"
        case .greaterStamp: "greaterStamp"
        case .greaterBytes: "greaterBytes"
        case .provisionalGaveWay: "provisionalGaveWay"
        case .provisionalKept: "provisionalKept"
        case .removalForgotten: "removalForgotten"
        case .goneFromCloud: "goneFromCloud"
        case .refusedForQuota: "refusedForQuota"
        case .refusedForClock: "refusedForClock"
        case .refusedForKey: "refusedForKey"
        case .refusedForNow: "refusedForNow"
        }
    }
}
