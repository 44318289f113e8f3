package import LocalFiles

/// Why a log cannot be read or written.
package enum LogError: Error, Sendable, Equatable {
    case storage(FileError)
    /// Bytes differ from what was written.
    case damaged(LogDamage)
    /// The file has a newer version of the format.
    case incompatible(path: String, version: UInt32)
    /// An earlier sync failed, so what is durable is unknown: open the log again, recover or rewrite it.
    case closedByFailure(FileError)
    /// The files were removed from under the process.
    case removed(path: String)
    /// A group of frames exceeds the largest segment.
    case tooLarge(byteCount: Int)
    /// Nothing can be appended before the log has its next segment, which the owner creates.
    case needsSegment
    /// The live data has reached its limit, in bytes.
    case full(limit: Int)
    /// The live data of one account has reached its limit, in bytes.
    case accountFull(limit: Int)
    /// An account has as many stores as it may have.
    case tooManyStores(limit: Int)
}

/// Where a log is damaged.
package struct LogDamage: Sendable, Equatable {
    package var path: String
    package var offset: Int
    package var detail: String

    package init(path: String, offset: Int, detail: String) {
        self.path = path
        self.offset = offset
        self.detail = detail
    }
}

extension LogError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .storage(let failure): failure.description
        case .damaged(let damage): "\(damage.path): damaged at byte \(damage.offset): \(damage.detail)"
        case .incompatible(let path, let version):
            "\(path): written by a newer version (format \(version), this program reads 1)"
        case .closedByFailure(let failure):
            "writing stopped after a failed sync (\(failure.description)) and is tried again"
        case .removed(let path): "\(path): the file was removed while in use"
        case .tooLarge(let byteCount): "\(byteCount) bytes exceed the largest segment"
        case .needsSegment: "the log needs its next segment"
        case .full(let limit): "the values would exceed \(limit) bytes"
        case .accountFull(let limit): "the account's values would exceed \(limit) bytes"
        case .tooManyStores(let limit): "the account has \(limit) stores"
        }
    }
}

/// What opening a log found.
package struct LogRecovery: Sendable, Equatable {
    package var frameCount = 0
    /// An incomplete last write. It is cut, or stays until the log is rewritten.
    package var tornTail: LogDamage?
    /// Incomplete writes before complete ones, as a power failure leaves them after the last sync. Everything after
    /// them is kept.
    package var unsyncedGaps: [LogDamage] = []
    /// Damage before the tail; the affected files were copied to `quarantined`.
    package var damage: [LogDamage] = []
    package var quarantined: [String] = []

    package init() {}

    /// What was cut at the end of the log. None of it was acknowledged, unless a byte changed later instead of a
    /// write being incomplete.
    package var cutWrites: [LogDamage] { unsyncedGaps + (tornTail.map { [$0] } ?? []) }
}
