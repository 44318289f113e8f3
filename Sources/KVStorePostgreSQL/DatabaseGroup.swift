#if PostgreSQL
    import Essentials
    import KVStoreCore
    import KVStoreLog
    import KVStoreServer
    import KVStoreWire
    import Logging
    import NIOCore
    import PostgreSQLClient

    /// A group of requests on its way: stores are read where that is needed, planned, and committed together, until all
    /// requests are answered or have to be repeated.
    struct DatabaseGroup {
        fileprivate struct Item {
            let store: CachedStore
            var operations: [DatabaseOperation]
            var row: StoreRow?
            /// Whether the row must be read before anything is answered or planned.
            var needsLoad: Bool
            /// Whether it was read for this group.
            var isCurrent = false
            /// Whether the database has to create it before it is read.
            var isCreated = false
            var conflictCount = 0
            /// Of the account, as far as they were read.
            var byteLimit: Int64?
        }

        private let worker: DatabaseWorker
        private var engine: DatabaseEngine { worker.engine }
        private var items: [Item]
        /// Stores with answered requests, until they are delivered together.
        private var finished: [Finished] = []
        private let generation: Int64

        /// Conflicts after which a store is locked before it is read.
        private static let conflictCount = 2

        init(
            _ group: [(store: CachedStore, operations: [DatabaseOperation])],
            _ worker: DatabaseWorker
        ) {
            self.worker = worker
            (items, generation) = worker.engine.withState { state in
                let items = group.map { store, operations in
                    Item(
                        store: store, operations: operations, row: store.row,
                        needsLoad: !store.isLoaded || store.isStale
                            || operations.contains { $0.isRead || $0.isUncertain })
                }
                return (items, state.generation ?? 0)
            }
        }

        mutating func run() {
            while !items.isEmpty {
                guard let connection = worker.connection, connection.isOpen else {
                    putBack(items)
                    items = []
                    break
                }
                if let index = items.firstIndex(where: { $0.conflictCount >= Self.conflictCount }) {
                    runLocked(at: index, connection)
                } else {
                    runRound(connection)
                }
                deliver()
            }
            deliver()
        }

        private mutating func deliver() {
            guard !finished.isEmpty else { return }
            engine.finish(finished, generation: generation)
            finished = []
        }

        // MARK: - Rounds

        /// A store with which the group has finished.
        fileprivate struct Finished {
            let store: CachedStore
            /// Nil if it must be read again.
            var row: StoreRow?
            var completions: [(loop: Int, run: () -> Void)] = []
            /// Whether live readers are woken.
            var isAdvanced = false
            /// What has to be repeated; the row is read again before.
            var repeated: [DatabaseOperation] = []
        }

        private struct Commit {
            var row: StoreRow
            var plan: StorePlan
            var item: Item
        }

        private mutating func runRound(_ connection: PostgreSQLConnection) {
            var commits = planned()
            commits.sort { $0.row.id < $1.row.id }
            let loads = items
            items = []
            let creations = loads.filter(\.isCreated).map(\.store.id).sorted()
            var executions: [PostgreSQLExecution] = []
            if !commits.isEmpty {
                executions.append(
                    DatabaseStatements.committing(
                        commits.map { ($0.row, $0.plan) }, generation: generation))
            }
            if !creations.isEmpty {
                executions.append(
                    DatabaseStatements.creating(creations, newEpoch: Self.newEpoch))
            }
            if !loads.isEmpty {
                engine.withState { _ in for item in loads { item.store.isStale = false } }
                executions.append(DatabaseStatements.loading(loads.map { ($0.store.id, $0.row) }))
            }
            guard !executions.isEmpty else { return }
            let start = NIODeadline.now()
            var results = connection.pipeline(executions, timeout: Database.timeout)[...]
            if !commits.isEmpty {
                finish(commits, results.removeFirst(), since: start)
            }
            var refusals: [StoreID: Problem] = [:]
            if !creations.isEmpty {
                switch results.removeFirst() {
                case .success(let rows): refusals = Self.refusals(rows, creations)
                case .failure(let error):
                    return recover(loads, from: error, isCommit: false)
                }
            }
            if !loads.isEmpty { finishLoads(loads, results.removeFirst(), refusals) }
        }

        /// Answers what needs no commit, and plans what needs one. The others, which have to be read first, stay.
        private mutating func planned() -> [Commit] {
            var commits: [Commit] = []
            var rest: [Item] = []
            for var item in items {
                if item.needsLoad {
                    rest.append(item)
                } else if let row = item.row {
                    let plan = StorePlan(
                        item.operations, on: row, generation: generation, now: engine.options.now(),
                        newEpoch: Self.newEpoch)
                    if plan.needsCommit {
                        commits.append(Commit(row: row, plan: plan, item: item))
                    } else if item.isCurrent {
                        done(item, row, plan, isAdvanced: false)
                        // Committed before the answer was lost; nobody else has been told.
                        if item.operations.contains(where: \.isUncertain) {
                            engine.publish([item.store.id])
                        }
                    } else {
                        item.needsLoad = true
                        rest.append(item)
                    }
                } else if item.operations.contains(where: \.creates) {
                    item.isCreated = true
                    rest.append(item)
                } else {
                    finished.append(
                        Finished(
                            store: item.store,
                            completions: item.operations.map { ($0.loop, $0.withoutStore) }))
                }
            }
            items = rest
            return commits
        }

        private static func newEpoch() -> EpochID { EpochID(rawValue: .random(in: 1 ... .max)) }

        /// Why stores were not created.
        private static func refusals(
            _ rows: PostgreSQLRows, _ creations: [StoreID]
        ) -> [StoreID: Problem] {
            var refusals: [StoreID: Problem] = [:]
            for (index, store) in creations.enumerated() where index < rows.count {
                switch rows.int32(index, 0) {
                case 1: refusals[store] = .unauthorized
                case 2: refusals[store] = .tooManyStores(limit: Int(rows.int32(index, 1) ?? 0))
                default: break
                }
            }
            return refusals
        }

        private mutating func finishLoads(
            _ loads: [Item], _ result: Result<PostgreSQLRows, PostgreSQLError>,
            _ refusals: [StoreID: Problem]
        ) {
            do throws(PostgreSQLError) {
                let loaded = try DatabaseStatements.loaded(
                    try result.get(), loads.map { ($0.store.id, $0.row) })
                guard loaded.generation == generation else {
                    // The connection settles which generation it is.
                    worker.connection?.close()
                    return putBack(loads)
                }
                engine.noteSuccess()
                for (index, load) in loads.enumerated() {
                    var item = load
                    item.row = loaded.stores[index]
                    item.byteLimit = loaded.byteLimits[index]
                    item.needsLoad = false
                    item.isCurrent = true
                    item.isCreated = false
                    if let problem = refusals[item.store.id] {
                        let refused = item.operations.filter(\.creates)
                        item.operations.removeAll(where: \.creates)
                        engine.complete(
                            refused.map { ($0.loop, $0.failing(with: problem)) }, advanced: [])
                    }
                    items.append(item)
                }
            } catch {
                recover(loads, from: error, isCommit: false)
            }
        }

        private mutating func finish(
            _ commits: [Commit], _ result: Result<PostgreSQLRows, PostgreSQLError>,
            since start: NIODeadline
        ) {
            switch result {
            case .success(let rows):
                engine.noteSuccess()
                let elapsed = NIODeadline.now() - start
                let conflicts = DatabaseStatements.conflicts(rows)
                engine.note(commits.map(\.plan), in: elapsed)
                var published: [StoreID] = []
                for (index, commit) in commits.enumerated() {
                    if conflicts.contains(index) {
                        conflict(commit)
                    } else {
                        finish(commit)
                        published.append(commit.item.store.id)
                    }
                }
                engine.publish(published)
            case .failure(let error):
                recover(
                    commits.map { commit in
                        var item = commit.item
                        item.operations = commit.plan.operations
                        return item
                    }, from: error, isCommit: true)
            }
        }

        private mutating func conflict(_ commit: Commit) {
            var item = commit.item
            item.conflictCount += 1
            item.needsLoad = true
            items.append(item)
        }

        private mutating func finish(_ commit: Commit) {
            var row = commit.row
            commit.plan.commit(to: &row, generation: generation)
            done(commit.item, row, commit.plan, isAdvanced: true)
        }

        private mutating func done(
            _ item: Item, _ row: StoreRow, _ plan: StorePlan, isAdvanced: Bool
        ) {
            let isWaited = item.operations.contains {
                if case .refresh = $0.request { true } else { false }
            }
            finished.append(
                Finished(
                    store: item.store, row: row,
                    completions: plan.completions(on: row, now: engine.options.now()),
                    isAdvanced: isAdvanced || isWaited))
        }

        // MARK: - One store, locked

        /// After conflicts: other nodes wait until this one has committed.
        private mutating func runLocked(at index: Int, _ connection: PostgreSQLConnection) {
            var item = items.remove(at: index)
            var isCommit = false
            do throws(PostgreSQLError) {
                try connection.begin(timeout: Database.timeout)
                var ids = PostgreSQLParameters()
                ids.append(array: [item.row?.id ?? 0])
                try connection.execute(
                    DatabaseStatements.lockStores, ids, timeout: Database.timeout)
                let stores = [(id: item.store.id, known: item.row)]
                let loaded = try DatabaseStatements.loaded(
                    try connection.execute(
                        DatabaseStatements.loading(stores), timeout: Database.timeout), stores)
                guard loaded.generation == generation, let row = loaded.stores[0] else {
                    connection.close()
                    return putBack([item])
                }
                let plan = StorePlan(
                    item.operations, on: row, generation: generation, now: engine.options.now(),
                    newEpoch: Self.newEpoch)
                item.operations = plan.operations
                if plan.needsCommit {
                    let rows = try connection.execute(
                        DatabaseStatements.committing([(row, plan)], generation: generation),
                        timeout: Database.timeout)
                    guard DatabaseStatements.conflicts(rows).isEmpty else {
                        throw PostgreSQLError(.other, "a locked store was changed")
                    }
                }
                isCommit = true
                try connection.commit(timeout: Database.timeout)
                if plan.needsCommit {
                    finish(Commit(row: row, plan: plan, item: item))
                    engine.publish([item.store.id])
                } else {
                    done(item, row, plan, isAdvanced: false)
                }
            } catch {
                if connection.isOpen {
                    do throws(PostgreSQLError) {
                        try connection.rollback(timeout: Database.timeout)
                    } catch { connection.close() }
                }
                item.conflictCount = 0
                recover([item], from: error, isCommit: isCommit)
            }
        }

        // MARK: - Errors

        /// Repeats what may succeed later, alone what may have failed because of another request, and fails the others.
        private mutating func recover(
            _ failed: [Item], from error: PostgreSQLError, isCommit: Bool
        ) {
            var failed = failed
            switch error.kind {
            case .disconnected, .timeout:
                engine.noteFailure(error)
                if isCommit {
                    for index in failed.indices { failed[index].markUncertain() }
                }
                return putBack(failed)
            case .cannotConnect, .authentication, .readOnly, .missingPreparedStatement:
                engine.noteFailure(error)
                worker.connection?.close()
                return putBack(failed)
            case .conflict, .canceled: return putBack(failed)
            case .outOfResources:
                engine.noteFailure(error)
                usleep(50_000)
                return putBack(failed)
            case .diskFull:
                engine.noteFailure(error)
                return fail(failed, with: .databaseFull)
            case .undefined, .other: break
            }
            if error.sqlState == "UB001" {
                worker.connection?.close()
                return putBack(failed)
            }
            if failed.count > 1 || (failed.first?.operations.count ?? 0) > 1 {
                for index in failed.indices { failed[index].markAlone() }
                return putBack(failed)
            }
            switch error.sqlState {
            case "UB002": fail(failed, with: .unauthorized)
            case "UB003":
                fail(failed, with: Problem(.accountFull(limit: Int(failed.first?.byteLimit ?? 0))))
            case "UB004":
                fail(failed, with: .tooManyStores(limit: Int(DatabaseStatements.storesPerAccount)))
            default:
                engine.logger.error("the database refused a request: \(error.message)")
                fail(failed, with: .databaseFailed)
            }
        }

        private mutating func fail(_ failed: [Item], with problem: Problem) {
            finished += failed.map { item in
                Finished(
                    store: item.store,
                    completions: item.operations.map { ($0.loop, $0.failing(with: problem)) })
            }
        }

        /// Fails what has waited long enough.
        private mutating func putBack(_ items: [Item]) {
            let now = NIODeadline.now()
            finished += items.map { item in
                var result = Finished(store: item.store)
                for operation in item.operations {
                    if operation.deadline > now {
                        result.repeated.append(operation)
                    } else {
                        result.completions.append((operation.loop, operation.expired))
                    }
                }
                return result
            }
        }
    }

    extension DatabaseGroup.Item {
        fileprivate mutating func markUncertain() {
            for index in operations.indices { operations[index].isUncertain = true }
        }

        fileprivate mutating func markAlone() {
            for index in operations.indices { operations[index].isAlone = true }
        }
    }

    extension DatabaseEngine {
        /// - Parameter generation: of the rows, which do not count in another one.
        fileprivate func finish(_ stores: [DatabaseGroup.Finished], generation: Int64) {
            let (isWaiting, advanced) = withState { state in
                var advanced: [StoreID] = []
                for finished in stores {
                    let store = finished.store
                    // The sweep does not see what any request has read already.
                    if finished.isAdvanced || finished.row?.version != store.row?.version {
                        advanced.append(store.id)
                    }
                    if let row = finished.row, state.generation == generation {
                        store.row = row
                        store.isLoaded = true
                    } else {
                        store.forget()
                    }
                    state.cache.putBack(store, repeating: finished.repeated)
                }
                return (!state.cache.isQueueEmpty, advanced)
            }
            complete(stores.flatMap(\.completions), advanced: advanced)
            if isWaiting { wakeWorkers() }
        }

        fileprivate func note(_ plans: [StorePlan], in elapsed: TimeAmount) {
            metrics.count {
                $0.syncSeconds.observe(Double(elapsed.nanoseconds) / 1e9)
                $0.groupRequests.observe(Double(plans.reduce(0) { $0 + $1.operations.count }))
                for plan in plans {
                    $0.commits += plan.operations.count
                    $0.recordsStored += plan.plan.accepted.count
                    $0.recordsRejected += plan.plan.rejections.count
                }
            }
        }

        fileprivate func publish(_ stores: [StoreID]) {
            guard !stores.isEmpty else { return }
            listener?.publish(stores)
        }
    }
#endif
