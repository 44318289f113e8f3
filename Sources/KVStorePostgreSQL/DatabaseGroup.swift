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
        struct Item {
            /// Checked out, so that its row may be read without the lock.
            let store: CachedStore
            var operations: [DatabaseOperation]
            /// Whether the row must be read before anything is answered or planned.
            var needsLoad: Bool
            /// Whether it was read for this group.
            var isCurrent = false
            /// Whether live readers have not seen what was read or committed.
            var isAdvanced = false
            /// Whether the database has to create it before it is read.
            var isCreated = false
            var conflictCount = 0
            /// Of the account, when it was read.
            var limits: (byteCount: Int64?, storeCount: Int32?)
            /// Why the commit was refused, for an answer that names the present limit.
            var refusal: Refusal?
        }

        let engine: DatabaseEngine
        let connection: PostgreSQLConnection
        var items: [Item]
        /// Stores with answered requests, until they are delivered together.
        var finished: [Finished] = []
        let generation: Int64

        /// Conflicts after which a store is locked before it is read.
        private static let conflictCount = 2

        init(
            _ stores: [TakenStore], _ engine: DatabaseEngine, _ connection: PostgreSQLConnection
        ) {
            (self.engine, self.connection) = (engine, connection)
            (items, generation) = engine.withState { state in
                let items = stores.map { store, operations in
                    Item(
                        store: store, operations: operations,
                        needsLoad: !store.isLoaded || store.isStale
                            || operations.contains { $0.isRead || $0.isUncertain })
                }
                return (items, state.generation ?? 0)
            }
        }

        mutating func run() {
            while !items.isEmpty {
                guard connection.isOpen else {
                    putBack(items)
                    items = []
                    break
                }
                if let index = items.firstIndex(where: { $0.conflictCount >= Self.conflictCount }) {
                    runLocked(at: index)
                } else {
                    runRound()
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
        struct Finished {
            let store: CachedStore
            /// Otherwise its row is forgotten.
            var isCurrent = false
            var completions: [(loop: Int, run: () -> Void)] = []
            /// Whether live readers are woken.
            var isAdvanced = false
            /// What has to be repeated, after the row has been read again.
            var repeated: [DatabaseOperation] = []
        }

        private struct Commit {
            var id: Int64
            var plan: StorePlan
            var item: Item
        }

        private mutating func runRound() {
            var commits = planned()
            commits.sort { $0.id < $1.id }
            let loads = items
            items = []
            let creations = loads.filter(\.isCreated).map(\.store.id).sorted()
            var executions: [PostgreSQLExecution] = []
            if !commits.isEmpty {
                executions.append(
                    DatabaseStatements.committing(
                        commits.map { ($0.item.store, $0.plan) }, generation: generation))
            }
            let notification =
                commits.isEmpty
                ? nil : engine.listener?.notification(of: commits.map(\.item.store.id))
            if let notification { executions.append(notification) }
            if !creations.isEmpty {
                executions.append(
                    DatabaseStatements.creating(creations, newEpoch: Self.newEpoch))
            }
            if !loads.isEmpty {
                engine.withState { _ in for item in loads { item.store.isStale = false } }
                executions.append(DatabaseStatements.loading(loads.map(\.store)))
            }
            guard !executions.isEmpty else { return }
            let start = NIODeadline.now()
            var results: ArraySlice<Result<PostgreSQLRows, PostgreSQLError>> = []
            var isCommitting = !commits.isEmpty
            connection.pipeline(executions, timeout: Database.timeout) { result in
                guard isCommitting else { return results.append(result) }
                isCommitting = false
                finish(commits, result, since: start, isPublished: notification != nil)
                deliver()
            }
            if notification != nil, (try? results.removeFirst().get()) == nil {
                engine.publish(commits.map(\.item.store.id))
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
                } else if let refusal = item.refusal {
                    fail([item], with: refusal.problem(item.limits))
                } else if let row = item.store.row {
                    let plan = StorePlan(
                        item.operations, on: row, generation: generation, now: engine.options.now(),
                        newEpoch: Self.newEpoch)
                    if plan.needsCommit {
                        commits.append(Commit(id: row.id, plan: plan, item: item))
                    } else if item.isCurrent {
                        done(item, plan)
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
                            store: item.store, isCurrent: true,
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
                    try result.get(), loads.map(\.store))
                guard loaded.generation == generation else {
                    // The connection settles which generation it is.
                    connection.close()
                    return putBack(loads)
                }
                let changed = engine.keep(loaded.stores, of: loads.map(\.store))
                for (index, load) in loads.enumerated() {
                    var item = load
                    item.limits = (loaded.byteLimits[index], loaded.storeLimits[index])
                    item.needsLoad = false
                    item.isCurrent = true
                    item.isAdvanced = item.isAdvanced || changed[index]
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
            since start: NIODeadline, isPublished: Bool
        ) {
            switch result {
            case .success(let rows):
                let elapsed = NIODeadline.now() - start
                let conflicts = DatabaseStatements.conflicts(rows)
                engine.note(commits.map(\.plan), in: elapsed)
                var committed: [Commit] = []
                for (index, commit) in commits.enumerated() {
                    if conflicts.contains(index) {
                        conflict(commit)
                    } else {
                        committed.append(commit)
                    }
                }
                finish(committed, isPublished: isPublished)
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
            engine.withState { $0.conflictCount += 1 }
            item.needsLoad = true
            items.append(item)
        }

        private mutating func finish(_ commits: [Commit], isPublished: Bool = false) {
            guard !commits.isEmpty else { return }
            engine.apply(
                commits.map { ($0.item.store, $0.plan) }, generation: generation)
            for var commit in commits {
                commit.item.isAdvanced = true
                done(commit.item, commit.plan)
            }
            if !isPublished { engine.publish(commits.map(\.item.store.id)) }
        }

        /// Answers from the row, which has what was committed.
        private mutating func done(_ item: Item, _ plan: StorePlan) {
            guard let row = item.store.row else { return putBack([item]) }
            let isWaited = item.operations.contains(where: \.isRefresh)
            finished.append(
                Finished(
                    store: item.store, isCurrent: true,
                    completions: plan.completions(on: row, now: engine.options.now()),
                    isAdvanced: item.isAdvanced || isWaited))
        }

        // MARK: - One store, locked

        /// After conflicts: other nodes wait until this one has committed.
        private mutating func runLocked(at index: Int) {
            var item = items.remove(at: index)
            var isCommit = false
            do throws(PostgreSQLError) {
                try connection.begin(timeout: Database.timeout)
                var ids = PostgreSQLParameters()
                ids.append(array: [item.store.row?.id ?? 0])
                try connection.execute(
                    DatabaseStatements.lockStores, ids, timeout: Database.timeout)
                let loaded = try DatabaseStatements.loaded(
                    try connection.execute(
                        DatabaseStatements.loading([item.store]), timeout: Database.timeout),
                    [item.store])
                guard loaded.generation == generation, let row = loaded.stores[0] else {
                    connection.close()
                    return putBack([item])
                }
                item.isAdvanced = engine.keep([row], of: [item.store])[0] || item.isAdvanced
                let plan = StorePlan(
                    item.operations, on: row, generation: generation, now: engine.options.now(),
                    newEpoch: Self.newEpoch)
                item.operations = plan.operations
                if plan.needsCommit {
                    let rows = try connection.execute(
                        DatabaseStatements.committing([(item.store, plan)], generation: generation),
                        timeout: Database.timeout)
                    guard DatabaseStatements.conflicts(rows).isEmpty else {
                        throw PostgreSQLError(.other, "a locked store was changed")
                    }
                }
                isCommit = true
                try connection.commit(timeout: Database.timeout)
                if plan.needsCommit {
                    finish([Commit(id: row.id, plan: plan, item: item)])
                } else {
                    done(item, plan)
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
    }
#endif
