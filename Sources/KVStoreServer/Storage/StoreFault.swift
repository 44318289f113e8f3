import KVStore

/// Why the keeper did not do what it was asked.
enum StoreFault: Error, Sendable, Equatable {
    /// The disk has no room; nothing was taken in. It may work later.
    case diskFull(StorageFailure)
    /// The disk did not take a write for another reason; nothing was taken in. The next may work.
    case writeFailed(StorageFailure)
    /// A sync failed: what is on disk is unknown until the next start. Reading goes on.
    case diskFailed(String)
    /// The live data has reached its ceiling, in bytes.
    case memoryFull(limit: Int)
    /// An account has as many stores as it may have.
    case tooManyStores(limit: Int)
    /// As many requests wait as may wait.
    case busy
    /// The wait ended before the outcome was known: the change may or may not have been stored.
    case outcomeUnknown
    /// The daemon is about to end.
    case stopping

    init(_ error: LogError) {
        switch error {
        case .storage(let failure) where failure.isOutOfSpace: self = .diskFull(failure)
        case .storage(let failure): self = .writeFailed(failure)
        default: self = .diskFailed(error.description)
        }
    }

    init(_ fault: HubLedger.Fault) {
        switch fault {
        case .log(let error): self.init(error)
        case .full(let limit): self = .memoryFull(limit: limit)
        }
    }
}
