@testable import KVStoreCore

/// A stateless daemon on the database: what it caches, and what it has under way.
struct ModelNode {
    /// The store as the database held it at some time.
    struct Cache {
        var hub: Hub
        var generation: UInt64
    }

    /// A request, and the device that awaits the answer unless it has given up.
    struct Received {
        var request: SyncRequest
        var device: Int?
        var id: UInt64 = 0
    }

    /// Requests planned one after the other, to be committed if the store is still as they were planned on.
    struct Transaction {
        var requests: [Received]
        var plans: [Hub.Plan] = []
        var base: Cache

        /// The store once the transaction is committed.
        var result: Cache {
            var result = base
            for plan in plans { result.hub.commit(plan) }
            return result
        }
    }

    /// Nil in a node that has just started.
    var cache: Cache?
    /// At most one group of requests is under way.
    var transaction: Transaction?
    /// Whether the transaction has been executed, and its outcome is on the way to the node.
    var isCommitted = false
    /// The result of a read that is on the way to the node.
    var read: Cache?
}

/// What the database holds besides the store.
struct ModelGenerations: Equatable {
    /// Changed by the first node that connects after a failover.
    var database: UInt64 = 1
    /// The database's generation when the store's present epoch began.
    var store: UInt64 = 1
    /// Whether the database has another timeline than that of its generation.
    var isPromoted = false

    var areEqual: Bool { !isPromoted && store == database }
}

/// The database as a standby holds it that receives nothing any more, with the ghosts that belong to it.
struct ModelStandby {
    var hub: Hub
    var generations: ModelGenerations
    var greatest: [StoreRecord?]
    var forgotten: [StoreStamp?]
    var buried: [[StoreRecord]]
}

/// What happens at a node.
enum NodeStep: Sendable, Equatable {
    /// The requests of devices arrive. Their changes are planned together; a request without any is answered from the
    /// database.
    case receives([Int])
    case receivesStray(Int)
    /// The database executes the node's transaction. After a conflict the node refreshes its cache and plans again.
    case commits
    case learnsOutcome
    /// A notification or the sweep shows that the cache is behind: one that is late, doubled or lost is this step at
    /// another time.
    case refreshes
    case opensStream(Int)
    case slowReadArrives

    // Faults.

    /// The connection to the database is cut after the commit. The node sends the same requests again.
    case losesOutcome
    /// The connection is cut before the commit, and the database executes the transaction at some time after all.
    case transactionIsLate
    /// The node reads the store, and the result arrives at some time.
    case readIsSlow
    /// The node is killed and started again; its transaction is lost, or executed at some time.
    case restarts(transactionSurvives: Bool)

    var isFault: Bool {
        switch self {
        case .losesOutcome, .transactionIsLate, .readIsSlow, .restarts: true
        default: false
        }
    }
}

/// What happens to the database.
enum DatabaseStep: Sendable, Equatable {
    case lateTransactionExecutes(Int)
    /// The standby receives nothing from here on.
    case standbyStalls
    /// The standby is promoted: what was committed since it stalled is lost. Outcomes on their way are lost or arrive.
    case failsOver(losesOutcomes: Bool)
}
