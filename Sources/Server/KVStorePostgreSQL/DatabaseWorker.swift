#if PostgreSQL
    import Dispatch
    import Essentials
    import KVStoreCore
    import KVStoreServer
    import Logging
    import NIOCore

    /// A thread with a connection that takes groups of requests, one after the other. Unchecked because only `wake` is
    /// called by other threads.
    final class DatabaseWorker: @unchecked Sendable {
        let engine: DatabaseEngine
        private let signal = DispatchSemaphore(value: 0)
        private var connection: PostgreSQLConnection?
        private var backoff = Duration.zero

        init(_ engine: DatabaseEngine) { self.engine = engine }

        func start() {
            DispatchQueue(label: "ubiquity.kvsd.database", qos: .userInteractive).async { [self] in run() }
        }

        /// Ends the wait for work.
        func wake() { signal.signal() }

        private func run() {
            while true {
                guard let connection = openConnection() else {
                    guard engine.giveUp(waiting: backoff) else { break }
                    continue
                }
                switch engine.takeWork(for: self) {
                case .group(let taken):
                    var group = DatabaseGroup(taken, engine, connection)
                    group.run()
                case .queries(let queries): run(queries, on: connection)
                case .wait: signal.wait()
                case .end:
                    connection.close()
                    return engine.workerEnded(of: self)
                }
            }
            engine.workerEnded(of: self)
        }

        private func openConnection() -> PostgreSQLConnection? {
            if let connection, connection.isOpen { return connection }
            do throws(PostgreSQLError) {
                let opened = try engine.storage.connect(as: "group")
                // Behind a pooler the settings would be those of others too.
                if !engine.storage.isPooled {
                    try opened.connection.script(Database.planning, timeout: Database.timeout)
                }
                connection = opened.connection
                engine.recordConnection(generation: opened.generation)
                backoff = .zero
                return opened.connection
            } catch {
                engine.recordFailure(error)
                backoff = min(max(backoff * 2, .milliseconds(50)), .seconds(1))
                return nil
            }
        }

        private func run(_ queries: [DatabaseQuery], on connection: PostgreSQLConnection) {
            for query in queries {
                do throws(PostgreSQLError) {
                    let complete = try query.run(connection)
                    engine.complete([(query.loop, complete)], advanced: [])
                } catch {
                    engine.recordFailure(error, on: connection)
                    engine.putBack(query)
                }
            }
        }
    }

    /// For workers.
    extension DatabaseEngine {
        enum Work {
            case group([TakenStore])
            case queries([DatabaseQuery])
            /// Until `wake`.
            case wait
            case end
        }

        /// Stores of one group.
        static let storeLimit = 64

        func takeWork(for worker: DatabaseWorker) -> Work {
            let (work, hasMore) = withState { state -> (Work, Bool) in
                if !state.queries.isEmpty {
                    defer { state.queries = [] }
                    return (.queries(state.queries), !state.cache.isQueueEmpty)
                }
                let group = state.cache.takeGroup(
                    storeLimit: Self.storeLimit,
                    operationLimit: Self.groupLimit(waitingCount: state.waitingCount, connectionCount: workers.count),
                    byteLimit: 4_194_304, coldLimit: 16)
                if !group.isEmpty { return (.group(group), !state.cache.isQueueEmpty) }
                if state.isClosing { return (.end, false) }
                state.idle.append(worker)
                return (.wait, false)
            }
            if hasMore { wakeWorkers() }
            return work
        }

        /// Leaves half to be answered, and sent by the next clients, while the database has the other: with all in its
        /// hands, node and database would wait for each other in turns.
        static func groupLimit(waitingCount: Int, connectionCount: Int) -> Int {
            min(max(16, waitingCount / (2 * connectionCount)), 256)
        }

        /// After a connection: what is known of another generation does not count.
        func recordConnection(generation: Int64) {
            recordSuccess()
            let isNew = withState { state in
                state.isConnected = true
                state.hasMoved = false
                guard state.generation != generation else { return false }
                let isNew = state.generation != nil
                state.generation = generation
                state.cache.forgetRows()
                for store in state.cache.watched { refresh(store, &state) }
                return isNew
            }
            guard isNew else { return }
            logger.warning(
                "the database has lost its last commits, or may have: replicas are asked for what is missing",
                metadata: ["generation": "\(generation)"])
        }

        /// Reports each kind once: a connection is lost first, and the next attempt fails for the reason that matters.
        ///
        /// - Parameter connection: on which it happened.
        func recordFailure(_ error: PostgreSQLError, on connection: PostgreSQLConnection? = nil) {
            if error.kind == .diskFull { return recordFullDisk(error) }
            let isTimeout = error.kind == .timeout
            let text = ServerError(error).description
            if isTimeout, let connection { storage.avoid(connection.endpoint) }
            let isNew = withState { state in
                state.needsCommit = state.needsCommit || isTimeout
                if error.sqlState == DatabaseSchema.movedState { state.hasMoved = true }
                return state.failures.updateValue(text, forKey: error.kind) != text
            }
            // Also what has been logged: the last one is why it does not work now.
            metrics.recordIncident(text, now: options.now())
            if isNew { logger.error("\(text)") }
        }

        func recordSuccess(ofCommit isCommit: Bool = false) {
            let wasFailing = withState { state in
                guard isCommit || !state.needsCommit else { return false }
                state.needsCommit = false
                defer { state.failures = [:] }
                return !state.failures.isEmpty
            }
            guard wasFailing, metrics.endIncident(now: options.now()) else { return }
            logger.notice("the database can be used again")
        }

        /// Waits while there is no connection, and fails what has waited long enough; false when the engine closes.
        func giveUp(waiting delay: Duration) -> Bool {
            let now = NIODeadline.now()
            let (expired, queries, problem, isClosing) = withState { state in
                let isHopeless = state.isClosing || state.hasMoved
                let expired = state.cache.takeExpired { isHopeless || $0.deadline <= now }
                let queries = state.queries.filter { isHopeless || $0.deadline <= now }
                state.queries.removeAll { isHopeless || $0.deadline <= now }
                return (expired, queries, state.unavailability, state.isClosing)
            }
            complete(
                expired.map { ($0.loop, $0.expired(problem)) }
                    + queries.map { query in (query.loop, { query.fail(problem) }) },
                advanced: [])
            guard !isClosing else { return false }
            usleep(UInt32(delay / .microseconds(1)))
            return true
        }

        func putBack(_ query: DatabaseQuery) {
            let isExpired = query.deadline <= .now()
            if isExpired {
                complete([(query.loop, { query.fail(.databaseUnavailable) })], advanced: [])
            } else {
                withState { $0.queries.append(query) }
            }
        }

        /// Answers requests and wakes live readers, with one task for each event loop that has any.
        func complete(_ completions: [(loop: Int, run: () -> Void)], advanced: [StoreID]) {
            guard !completions.isEmpty || !advanced.isEmpty else { return }
            withState { $0.waitingCount -= completions.count }
            for (index, watchers) in loops.enumerated() {
                let own = completions.filter { $0.loop == index }.map(\.run)
                guard !own.isEmpty || watchers.count > 0 && !advanced.isEmpty else { continue }
                nonisolated(unsafe) let runs = own
                watchers.loop.execute {
                    for run in runs { run() }
                    watchers.wake(advanced)
                }
            }
        }
    }
#endif
