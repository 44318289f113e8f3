#if PostgreSQL
    import Essentials
    import KVStoreCore
    package import KVStoreServer
    package import KVStoreWire
    package import Logging
    package import NIOCore
    import NIOPosix
    import Synchronization

    /// Stores in a database that several daemons share.
    ///
    /// Requests wait in a queue; workers, each a thread with a connection, take groups of them. A group is planned on
    /// what the node knows of its stores, with the code that the log's engine uses, and committed in one transaction
    /// that changes a store only if it still has the version that was planned on. Otherwise the worker reads what is
    /// newer and plans again. What only reads asks the database whether the node knows the latest version. A lost
    /// connection leaves outcomes unknown: the group is planned again, and stamps show what has happened already.
    ///
    /// Live readers read what the node knows, which notifications and a sweep of the database keep up to date.
    package final class DatabaseEngine: StorageEngine, @unchecked Sendable {
        package struct Options: Sendable {
            /// Connections that groups are committed on.
            package var connectionCount = 2
            /// Bytes of the stores that are kept in memory.
            package var cacheByteCount = 1 << 30
            /// Requests that may wait at a time.
            package var waitingCount = 16_384
            /// How long a request waits for a database that cannot be used.
            package var patience = TimeAmount.seconds(10)
            /// The address of this node, for operators.
            package var url = ""
            /// The time between two looks at all stores that live readers wait for.
            package var sweepInterval = Duration.seconds(15)
            /// The same without notifications.
            package var pollInterval = Duration.milliseconds(200)
            /// Milliseconds since 1970.
            package var now: @Sendable () -> Int64 = { ServerClock.wallMilliseconds() }

            package init() {}
        }

        package let loops: [WatcherRegistry]
        package let metrics = Metrics()
        package let accounts = AccountRegistry()
        /// Identifies this node.
        package let node = Int64.random(in: 1 ... .max)
        let storage: Database
        let answerCount = Atomic<Int64>(0)
        let options: Options
        let logger: Logger
        /// Milliseconds since 1970.
        let started: Int64
        private(set) var workers: [DatabaseWorker] = []
        private(set) var listener: DatabaseListener?

        struct State {
            var cache: StoreCache
            /// Reads that belong to no store.
            var queries: [DatabaseQuery] = []
            var waitingCount = 0
            /// Whether more requests are under way than a few clients send.
            var isBusy: Bool { waitingCount > 8 }
            /// Workers that wait for something to do.
            var idle: [DatabaseWorker] = []
            var isDispatchScheduled = false
            var workerCount = 0
            /// What the rows in memory are of.
            var generation: Int64?
            var isConnected = false
            /// Whether the last connection found that all data has moved to a directory.
            var hasMoved = false
            /// Why nothing can be answered without a connection.
            var unavailability: Problem { hasMoved ? .databaseMoved : .databaseUnavailable }
            var endpoint = ""
            /// As the last heartbeat found them.
            var nodes: [ServerReport.Database.Node] = []
            var standbyLagByteCount: Int?
            var conflictCount = 0
            /// Groups that were sent again, as a whole or in part.
            var repetitionCount = 0
            var devicesVersion: Int64?
            var notifyDevices: (@Sendable (_ account: String?) -> Void)?
            /// How connections and groups have failed last since one succeeded.
            var failures: [PostgreSQLError.Kind: String] = [:]
            /// Whether only a commit shows that the database works again: connections still succeed while commits wait
            /// for a standby that is gone.
            var needsCommit = false
            /// When a commit found no space, until that has not happened for a while: small commits may still find
            /// some.
            var full: NIODeadline?
            var isClosing = false
            var isClosed = false
            var closers: [CheckedContinuation<Void, Never>] = []
        }

        private let lock = Mutex(())
        private var state: State

        /// Creates the schema if the database has none, and connects. Blocks.
        package init(
            _ database: Database, options: Options = Options(), logger: Logger,
            loops: [any EventLoop] = Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
        ) throws(ServerError) {
            self.loops = loops.enumerated().map { WatcherRegistry($1, index: $0) }
            storage = database
            self.options = options
            self.logger = logger
            started = options.now()
            state = State(cache: StoreCache(byteLimit: options.cacheByteCount))
            try database.prepare()
            for watchers in self.loops {
                watchers.observeInterest { [weak self] store, isWatched in
                    self?.changeInterest(in: store, isWatched, on: watchers)
                }
            }
            let listener = DatabaseListener(self)
            self.listener = listener
            try listener.start()
            workers = (0..<options.connectionCount).map { _ in DatabaseWorker(self) }
            state.workerCount = workers.count
            for worker in workers { worker.start() }
        }

        /// Runs `body`, which must not wait, as the owner of the state.
        func withState<Value>(_ body: (inout State) -> Value) -> Value {
            lock.withLock { _ in Unchecked(value: body(&state)) }.value
        }

        /// Calls `notify` when devices of an account, or nil for any, may have been changed by another node.
        package func observeDevices(_ notify: @escaping @Sendable (_ account: String?) -> Void) {
            withState { $0.notifyDevices = notify }
        }

        func notifyDevices(ofAccount account: String?) {
            withState { $0.notifyDevices }?(account)
        }

        /// Catches what notifications have not told.
        func notifyDevices(version: Int64) {
            let notify = withState { state in
                defer { state.devicesVersion = version }
                return state.devicesVersion == version ? nil : state.notifyDevices
            }
            notify?(nil)
        }

        var isBusy: Bool { withState { $0.isBusy } }

        package var clock: @Sendable () -> Int64 { options.now }

        package func now(of account: String) -> Int64 { options.now() }

        package func checkReadiness() throws(Problem) {
            let problem = withState { state in
                state.isConnected && state.failures.isEmpty && !state.isClosing
                    ? nil : state.unavailability
            }
            if let problem { throw problem }
        }

        package var database: ServerReport.Database? {
            let counters = metrics.counters
            var report = withState { state in
                var report = ServerReport.Database(
                    endpoint: state.endpoint, connectionCount: workers.count,
                    busyCount: workers.count - state.idle.count,
                    isNotified: !storage.isPooled, conflictCount: state.conflictCount)
                report.nodes = state.nodes
                report.repetitionCount = state.repetitionCount
                report.cacheByteCount = state.cache.byteCount
                report.standbyLagByteCount = state.standbyLagByteCount
                return report
            }
            report.commitMilliseconds = counters.syncSeconds.mean.map { $0 * 1_000 }
            return report
        }

        /// Completes the requests under way. Those that wait for a database that cannot be used fail.
        package func close() async {
            await withCheckedContinuation { continuation in
                let isClosed = withState { state in
                    state.isClosing = true
                    if !state.isClosed { state.closers.append(continuation) }
                    return state.isClosed
                }
                if isClosed { return continuation.resume() }
                wakeWorkers(all: true)
            }
        }

        /// A worker ends; the last one ends the engine.
        func workerEnded(of worker: DatabaseWorker) {
            let closers = withState { state -> [CheckedContinuation<Void, Never>]? in
                state.workerCount -= 1
                guard state.workerCount == 0 else { return nil }
                state.isClosed = true
                defer { state.closers = [] }
                return state.closers
            }
            guard let closers else { return }
            listener?.stop()
            storage.disconnect()
            for closer in closers { closer.resume() }
        }
    }

    /// What leaves the lock with whoever held it.
    private struct Unchecked<Value>: @unchecked Sendable {
        let value: Value
    }

    /// A read that belongs to no store. Unchecked because its completion is called on its event loop.
    struct DatabaseQuery: @unchecked Sendable {
        let loop: Int
        let deadline: NIODeadline
        /// Returns what to run on the event loop. Blocks.
        let run: (PostgreSQLConnection) throws(PostgreSQLError) -> () -> Void
        let fail: (Problem) -> Void
    }
#endif
