import KVStoreCore
import KVStoreLedger
import KVStoreServer
import KVStoreWire

/// The engine of an emulator: a log, about whose changes by devices the emulator decides.
final class EmulatorEngine: StorageEngine {
    private let log: LogEngine
    private let interceptor: EmulatorInterceptor

    init(_ log: LogEngine, _ interceptor: EmulatorInterceptor) {
        self.log = log
        self.interceptor = interceptor
    }

    func sync(
        _ request: SyncRequest, store: StoreID, by device: Device, on loop: WatcherRegistry,
        _ complete: @escaping Completion<SyncResponse>
    ) {
        let mayCreate = device.scopes.contains(.write)
        log.perform(
            on: loop,
            { state throws(Problem) in
                try interceptor.sync(request, store: store, mayCreate: mayCreate, by: device, in: &state)
            }, complete)
    }

    func write(
        _ content: StoreRecord.Content, forKey key: StoreKey, store: StoreID, if precondition: Precondition,
        by device: Device?, replica: ReplicaID, on loop: WatcherRegistry,
        _ complete: @escaping Completion<SequencedRecord>
    ) {
        guard let device else {
            return log.write(
                content, forKey: key, store: store, if: precondition, by: nil, replica: replica, on: loop, complete)
        }
        log.perform(
            on: loop,
            { state throws(Problem) in
                try interceptor.write(content, key, store, if: precondition, by: device.name, in: &state)
            },
            complete)
    }

    func remove(_ store: StoreID, on loop: WatcherRegistry, _ complete: @escaping Completion<Void>) {
        log.perform(
            on: loop,
            { state throws(Problem) in
                try log.remove(store, in: &state)
                interceptor.emulation.decisions.forget(store)
            }, complete)
    }

    // MARK: - As the log

    var loops: [WatcherRegistry] { log.loops }
    var metrics: Metrics { log.metrics }
    var accounts: AccountRegistry { log.accounts }
    var clock: @Sendable () -> Int64 { log.clock }
    var logState: LogState? { log.logState }

    func now(of account: String) -> Int64 { log.now(of: account) }

    func value(
        of key: StoreKey, in store: StoreID, on loop: WatcherRegistry,
        _ complete: @escaping Completion<SequencedRecord?>
    ) {
        log.value(of: key, in: store, on: loop, complete)
    }

    func values(
        in store: StoreID, where isIncluded: @escaping @Sendable (StoreKey) -> Bool, on loop: WatcherRegistry,
        _ complete: @escaping Completion<[SequencedRecord]?>
    ) {
        log.values(in: store, where: isIncluded, on: loop, complete)
    }

    func stores(
        ofAccount account: String, on loop: WatcherRegistry, _ complete: @escaping Completion<[StoreList.Store]>
    ) {
        log.stores(ofAccount: account, on: loop, complete)
    }

    func removeStores(
        ofAccount account: String, count: Int, on loop: WatcherRegistry, _ complete: @escaping Completion<Bool>
    ) {
        log.removeStores(ofAccount: account, count: count, on: loop, complete)
    }

    func end(of store: StoreID, on loop: WatcherRegistry, _ complete: @escaping Completion<SyncCursor>) {
        log.end(of: store, on: loop, complete)
    }

    func durableSequence(of store: StoreID) -> UInt64 { log.durableSequence(of: store) }

    func page(of store: StoreID, after cursor: SyncCursor, limits: PageLimits) -> LivePage {
        log.page(of: store, after: cursor, limits: limits)
    }

    func checkReadiness() throws(Problem) { try log.checkReadiness() }

    func accountTotals(on loop: WatcherRegistry, _ complete: @escaping Completion<[String: AccountTotals]>) {
        log.accountTotals(on: loop, complete)
    }

    func close() async { await log.close() }
}
