/// What a log reports instead of going on.
package enum LogError: Error, Sendable, Equatable {
    case storage(StorageFailure)
    /// Bytes that were written whole are no longer what was written.
    case damaged(LogDamage)
    /// The file is of a newer version of the format.
    case incompatible(path: String, version: UInt32)
    /// An earlier sync failed, so what is on disk is unknown: open the log again.
    case closedByFailure(StorageFailure)
    /// The files were removed from under the process.
    case removed(path: String)
    /// A frame or a group of frames larger than a segment can be.
    case tooLarge(byteCount: Int)
}

/// A damaged place.
package struct LogDamage: Error, Sendable, Equatable {
    package var path: String
    package var offset: Int
    package var detail: String
}

extension LogError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .storage(let failure): failure.description
        case .damaged(let damage):
            "\(damage.path): damaged at byte \(damage.offset): \(damage.detail)"
        case .incompatible(let path, let version):
            "\(path): written by a newer version (format \(version), this program reads 1)"
        case .closedByFailure(let failure):
            "no more writes after a failed sync (\(failure.description)); restart to check the files"
        case .removed(let path): "\(path): the file was removed while in use"
        case .tooLarge(let byteCount): "\(byteCount) bytes do not fit into one segment"
        }
    }
}

/// What opening a log found.
package struct LogRecovery: Sendable, Equatable {
    package var frameCount = 0
    /// A last write that never became whole. It is cut, or stays until the log is written anew.
    package var tornTail: LogDamage?
    /// Writes that never became whole although later ones did: what a power failure leaves behind the last
    /// sync. Everything behind them has been kept.
    package var unsyncedGaps: [LogDamage] = []
    /// Damage before the tail; the files concerned have been copied to `setAside`.
    package var damage: [LogDamage] = []
    package var setAside: [String] = []

    package init() {}

    /// What was cut at the end of the log. Nobody was told of it, if it was a write that never became whole and
    /// not a byte that changed later.
    package var cutWrites: [LogDamage] { unsyncedGaps + (tornTail.map { [$0] } ?? []) }
}
