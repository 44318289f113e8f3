package import KVStoreCore
package import KVStoreLedger
package import KVStoreWire
import NIOCore

/// What completes a request, at most once.
package typealias Completion<Value> = (Result<Value, Problem>) -> Void

/// What keeps the stores of a server and decides about requests: the one door between the request path and storage.
///
/// What has an event loop as an argument is called on it, and completes on it, at once or later, when everything that
/// the result says is durable. It may complete with `again`: the caller calls once more. Everything else may be called
/// from any thread.
package protocol StorageEngine: AnyObject, Sendable {
    /// The event loops that serve connections, each with its live readers.
    var loops: [WatcherRegistry] { get }
    var metrics: Metrics { get }
    /// The accounts that may write, kept up to date by the devices.
    var accounts: AccountRegistry { get }
    /// Milliseconds since 1970.
    var clock: @Sendable () -> Int64 { get }

    /// Milliseconds since 1970, for an account.
    func now(of account: String) -> Int64

    /// A push and a pull. Fails with `unknownStore` if there is no store and the device may not create one.
    ///
    /// Precondition: a device that may not write sends no changes.
    func sync(
        _ request: SyncRequest, store: StoreID, by device: Device, on loop: WatcherRegistry,
        _ complete: @escaping Completion<SyncResponse>)

    /// Writes a key with a stamp greater than that of the present record. An equal value changes nothing; removing a
    /// key without a value fails with `unknownKey`.
    ///
    /// - Parameters:
    ///   - precondition: what must hold for the present record; otherwise it fails with `changedMeanwhile`.
    ///   - device: nil for the server itself.
    ///   - replica: the replica id in the stamp.
    func write(
        _ content: StoreRecord.Content, forKey key: StoreKey, store: StoreID, if precondition: Precondition,
        by device: Device?, replica: ReplicaID, on loop: WatcherRegistry,
        _ complete: @escaping Completion<SequencedRecord>)

    /// The record of a key with a value; nil without one.
    func value(
        of key: StoreKey, in store: StoreID, on loop: WatcherRegistry,
        _ complete: @escaping Completion<SequencedRecord?>)

    /// The included keys of a store that have a value, sorted; nil for an unknown store.
    func values(
        in store: StoreID, where isIncluded: @escaping @Sendable (StoreKey) -> Bool, on loop: WatcherRegistry,
        _ complete: @escaping Completion<[SequencedRecord]?>)

    /// The stores of an account, sorted by name.
    func stores(
        ofAccount account: String, on loop: WatcherRegistry, _ complete: @escaping Completion<[StoreList.Store]>)

    /// Removes a store with all its records; fails with `unknownStore` without one.
    func remove(_ store: StoreID, on loop: WatcherRegistry, _ complete: @escaping Completion<Void>)

    /// Removes up to `count` stores of an account; completes with whether there may be more.
    func removeStores(
        ofAccount account: String, count: Int, on loop: WatcherRegistry, _ complete: @escaping Completion<Bool>)

    /// Where the history of a store ends, for a live reader that is to be added; fails with `unknownStore` without one.
    func end(of store: StoreID, on loop: WatcherRegistry, _ complete: @escaping Completion<SyncCursor>)

    /// The last sequence number that live readers of a store may see.
    func durableSequence(of store: StoreID) -> UInt64

    /// The changes after a cursor that a live reader may see.
    func page(of store: StoreID, after cursor: SyncCursor, limits: PageLimits) -> LivePage

    /// Throws unless writes are accepted.
    func checkReadiness() throws(Problem)

    /// What each account that has any stores uses.
    func accountTotals(on loop: WatcherRegistry, _ complete: @escaping Completion<[String: AccountTotals]>)

    /// Nil without a log.
    var logState: LogState? { get }

    /// The state of the database, as far as it is known; nil without one.
    var database: ServerReport.Database? { get }

    /// Completes the waiting requests and ends all live streams; later requests fail. Call it once, from any task.
    func close() async
}

/// How full a log is, and what waits for it.
package struct LogState: Sendable, Equatable {
    /// The size of its files.
    package var fileByteCount: Int
    /// What all records take in memory.
    package var memoryByteCount: Int
    package var storeCount: Int
    /// Requests waiting for the disk.
    package var waitingCount: Int
    /// Whether no more writes are accepted until it has recovered.
    package var hasFailed: Bool
}

/// What a live reader finds after its cursor.
package enum LivePage {
    /// With the last sequence number that it may see.
    case changes(Hub.Page, durable: UInt64)
    /// Unknown yet; the reader is woken.
    case pending
    /// The cursor is not in the present epoch: the reader has to sync again.
    case ended
}

extension StorageEngine {
    package var logState: LogState? { nil }
    package var database: ServerReport.Database? { nil }

    /// Performs a request for a task, again as long as that is asked for.
    func wait<Value: Sendable>(
        for request: @escaping @Sendable (WatcherRegistry, @escaping Completion<Value>) -> Void
    ) async throws(Problem) -> Value {
        let watchers = loops[0]
        while true {
            let result = await withCheckedContinuation { continuation in
                watchers.loop.execute { request(watchers) { continuation.resume(returning: $0) } }
            }
            if case .failure(.again) = result { continue }
            return try result.get()
        }
    }
}
