import HTTPTypes
import KVStore

extension Problem {
    /// Paths of the daemon's machine stay out of the wire.
    private static func detail(_ failure: StorageFailure) -> String {
        "could not \(failure.operation) a file of the store's log: \(failure.message). "
            + "Nothing was stored"
    }

    /// What the keeper reports, as the wire says it.
    init(_ fault: StoreFault) {
        switch fault {
        case .diskFull(let failure):
            self.init(
                .insufficientStorage, "disk-full", "The daemon's disk is full",
                detail: Self.detail(failure),
                hint: "free space where the daemon runs; it goes on by itself",
                retryAfterSeconds: 60)
        case .writeFailed(let failure):
            self.init(
                .serviceUnavailable, "write-failed", "The daemon could not write",
                detail: Self.detail(failure),
                hint: "look at the disk where the daemon runs; it goes on with the next write",
                retryAfterSeconds: 5)
        case .diskFailed:
            self.init(
                .serviceUnavailable, "disk-failed", "The daemon's disk has failed",
                detail: "a sync failed: what was being stored may be lost, and no more is taken",
                hint: "look at the daemon's log and disk, then start kvsd again",
                retryAfterSeconds: 60)
        case .memoryFull(let limit):
            self.init(
                .insufficientStorage, "memory-full", "The daemon holds as much as it may",
                detail: "all values of all stores have at most \(limit) bytes", limit: limit,
                hint: "remove keys, or start kvsd with a larger --memory-limit",
                retryAfterSeconds: 60)
        case .tooManyStores(let limit):
            self.init(
                .insufficientStorage, "too-many-stores", "The account has too many stores",
                detail: "an account has at most \(limit) stores", limit: limit,
                hint: "use fewer stores")
        case .busy:
            self.init(
                .serviceUnavailable, "busy", "The daemon is busy",
                detail: "as many requests wait for the disk as may wait", hint: "try again",
                retryAfterSeconds: 2)
        case .outcomeUnknown:
            self = .outcomeUnknown
        case .stopping:
            self.init(
                .serviceUnavailable, "stopping", "The daemon is about to stop",
                detail: "nothing of this request was stored", hint: "try again",
                retryAfterSeconds: 2)
        }
    }

    /// A change that the store refused, for a person who put one key.
    init(_ refusal: KeyRefusal) {
        switch refusal {
        case .missing: self = .unknownKey
        case .rejected(let rejection):
            switch rejection.reason {
            case SyncRejection.quota:
                self.init(
                    .insufficientStorage, "quota", "The store is full",
                    detail: "the change would pass a limit of the store",
                    limit: rejection.limit.map { Int($0) }, hint: "remove keys, or store less")
            case SyncRejection.clock:
                self.init(
                    .serviceUnavailable, "clock", "The key is from the future",
                    detail: "the key was last written with a clock far ahead of the daemon's",
                    hint: "check the daemon's clock", retryAfterSeconds: 60)
            default: self = .badKey
            }
        }
    }
}
