import Dispatch
import KVStoreWire
import Logging
import NIOCore

/// Finishes the removal of the accounts that are marked for it: removes their pairings and stores, then the mark. What
/// a crash interrupts is resumed by the next start, what an error interrupts after five seconds.
final class AccountRemover: Sendable {
    private let engine: any StorageEngine
    private let storage: any DeviceStorage
    /// Weak, because its observer retains this.
    private weak let devices: (any DeviceDirectory)?
    private let logger: Logger
    /// One removal at a time, so that none meets an account that was added again.
    private let queue = DispatchQueue(label: "ubiquity.kvsd.accounts", qos: .utility)

    /// Used on `queue`.
    private nonisolated(unsafe) var lastError: String?

    /// Stores that one request to the engine removes, so that others do not wait long.
    private static let storeCount = 16

    init(_ engine: any StorageEngine, _ devices: any DeviceDirectory, _ storage: any DeviceStorage, logger: Logger) {
        self.engine = engine
        self.storage = storage
        self.devices = devices
        self.logger = logger
    }

    /// Returns at once. Call it when accounts may have been marked.
    func start() { queue.async { [self] in run() } }

    private func run() {
        do {
            guard try storage.removedAccount != nil else { return }
            var isDone = false
            let hasRun = try storage.removeAccounts { checkLock in
                while let account = try storage.removedAccount {
                    // From now on no request writes to the account.
                    guard let devices else { return }
                    guard !devices.admits(account: account.name) else { return }
                    try storage.removePairings(ofAccount: account.name)
                    repeat { try checkLock() } while try removeStores(ofAccount: account.name)
                    try storage.finishRemoval(ofAccount: account.name)
                    logger.notice("removed the account \(account.name)")
                    lastError = nil
                }
                isDone = true
            }
            if !hasRun || !isDone, devices != nil { retry() }
        } catch {
            guard error as? Problem != .stopping else { return }
            let reason = (error as? Problem)?.detail ?? "\(error)"
            if reason != lastError { logger.error("cannot remove an account yet: \(reason)") }
            lastError = reason
            retry()
        }
    }

    private func retry() {
        engine.loops[0].loop.scheduleTask(in: .seconds(5)) { [weak self] in self?.start() }
    }

    /// Blocks until the removal of some stores is durable; returns whether there may be more.
    private func removeStores(ofAccount account: String) throws -> Bool {
        let watchers = engine.loops[0]
        let hasMore = watchers.loop.makePromise(of: Bool.self)
        watchers.loop.execute { [engine] in
            engine.removeStores(ofAccount: account, count: Self.storeCount, on: watchers) {
                result in
                hasMore.completeWith(result.mapError { $0 as any Error })
            }
        }
        do { return try hasMore.futureResult.wait() } catch let error as Problem
            where error == .again
        { return true }
    }
}
