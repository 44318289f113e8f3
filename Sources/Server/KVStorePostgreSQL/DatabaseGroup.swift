#if PostgreSQL
    import Essentials
    import KVStoreCore
    import KVStoreLog
    import KVStoreServer
    import KVStoreWire
    import Logging
    import NIOCore

    /// A group of requests on its way: stores are read where that is needed, planned, and committed together, until all
    /// requests are answered or have to be repeated.
    ///
    /// Invariant: nothing is sent again without end. A store that is refused is planned at most twice more, each time
    /// with less; a group whose statement failed is sent once more, each store by itself; a store with several requests
    /// fails once more, each request by itself. A conflict follows a commit of somebody else, and the third one locks
    /// the store first.
    struct DatabaseGroup {
        struct Item {
            /// Checked out, so that its row may be read without the lock.
            let store: CachedStore
            var operations: [DatabaseOperation]
            /// Whether the row must be read before anything is answered or planned.
            var needsLoad: Bool
            /// Whether it has statements of its own, which wait for nobody's lock, as one that it was part of has
            /// failed.
            var isSeparate: Bool
            /// Whether it was read for this group.
            var isCurrent = false
            /// Whether live readers have not seen what was read or committed.
            var isAdvanced = false
            /// Whether the database has to create it before it is read.
            var isCreated = false
            var conflictCount = 0
            /// Why the last plan was not committed.
            var refusal: StoreRefusal?
        }

        let engine: DatabaseEngine
        let connection: PostgreSQLConnection
        var items: [Item]
        /// Stores with answered requests, until they are delivered together.
        var finished: [Finished] = []
        let generation: Int64

        /// Conflicts after which a store is locked before it is read.
        static let conflictCount = 2

        init(_ stores: [TakenStore], _ engine: DatabaseEngine, _ connection: PostgreSQLConnection) {
            (self.engine, self.connection) = (engine, connection)
            (items, generation) = engine.withState { state in
                let items = stores.map { store, operations in
                    Item(
                        store: store, operations: operations,
                        needsLoad: !store.isLoaded || store.isStale
                            || operations.contains { $0.isRead || $0.isUncertain },
                        isSeparate: state.cache.isSuspect(store.id)
                            || operations.first?.isAlone == true)
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
            /// Whether its statements fail, or it stays locked, so that it has statements of its own from now on.
            var isSuspect = false
            var completions: [(loop: Int, run: () -> Void)] = []
            /// Whether live readers are woken.
            var isAdvanced = false
            /// What has to be repeated, after the row has been read again.
            var repeated: [DatabaseOperation] = []
        }

        struct Commit {
            var id: Int64
            var plan: StorePlan
            var item: Item
        }

        private mutating func runRound() {
            let commits = Self.parts(planned().sorted { $0.id < $1.id }, \.item.isSeparate)
            let loads = Self.parts(items, \.isSeparate)
            items = []
            let places = commits.indices.map { engine.answerPlace(Int32($0), on: connection) }
            var executions = zip(commits, places).map { commits, place in
                DatabaseStatements.committing(
                    commits.map { ($0.item.store, $0.plan) }, generation: generation,
                    answer: place, waits: !commits[0].item.isSeparate)
            }
            let changed = commits.joined().map(\.item.store.id)
            let notification = changed.isEmpty ? nil : engine.listener?.notification(of: changed)
            if let notification { executions.append(notification) }
            for part in loads { executions += loading(part) }
            guard !executions.isEmpty else { return }
            let start = NIODeadline.now()
            var results: ArraySlice<Result<PostgreSQLRows, PostgreSQLError>> = []
            var committedCount = 0
            connection.pipeline(executions, timeout: Database.timeout) { result in
                guard committedCount < commits.count else { return results.append(result) }
                finish(
                    commits[committedCount], result, at: places[committedCount], since: start,
                    isPublished: notification != nil)
                committedCount += 1
                deliver()
            }
            if notification != nil, (try? results.removeFirst().get()) == nil {  // it is published once more
                engine.publish(changed)
            }
            for part in loads { finishLoads(part, &results) }
        }

        /// Those that share their statements, and each that has its own.
        private static func parts<Element>(_ elements: [Element], _ isSeparate: (Element) -> Bool) -> [[Element]] {
            let together = elements.filter { !isSeparate($0) }
            return (together.isEmpty ? [] : [together]) + elements.filter(isSeparate).map { [$0] }
        }

        /// Answers what needs no commit, and plans what needs one. The others, which have to be read first, stay.
        private mutating func planned() -> [Commit] {
            var commits: [Commit] = []
            var rest: [Item] = []
            for var item in items {
                if item.needsLoad {
                    rest.append(item)
                } else if let row = item.store.row {
                    let plan = self.plan(item, on: row)
                    if plan.needsCommit {
                        if item.refusal != nil { engine.countRepetition() }
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

        func plan(_ item: Item, on row: StoreRow) -> StorePlan {
            StorePlan(
                item.operations, on: row, generation: generation, now: engine.options.now(),
                refusal: item.refusal, newEpoch: Self.newEpoch)
        }

        static func newEpoch() -> EpochID { EpochID(rawValue: .random(in: 1 ... .max)) }

        // MARK: - Reading

        /// Creates what does not exist, reads the stores, and which lost commits of them have happened; each if there
        /// are any.
        private func loading(_ loads: [Item]) -> [PostgreSQLExecution] {
            var executions: [PostgreSQLExecution] = []
            let creations = Self.creations(loads)
            if !creations.isEmpty {
                executions.append(DatabaseStatements.creating(creations, newEpoch: Self.newEpoch))
            }
            engine.withState { _ in for item in loads { item.store.isStale = false } }
            executions.append(DatabaseStatements.loading(loads.map(\.store)))
            let attempts = loads.flatMap(\.attempts)
            if !attempts.isEmpty { executions.append(DatabaseStatements.reading(attempts)) }
            return executions
        }

        private static func creations(_ loads: [Item]) -> [StoreID] {
            loads.filter(\.isCreated).map(\.store.id).sorted()
        }

        private mutating func finishLoads(
            _ given: [Item], _ results: inout ArraySlice<Result<PostgreSQLRows, PostgreSQLError>>
        ) {
            var loads = given
            var refusals: [StoreID: Problem] = [:]
            var failed: Set<StoreID> = []
            let creations = Self.creations(loads)
            let creation = creations.isEmpty ? nil : results.removeFirst()
            let load = results.removeFirst()
            let attempts = loads.contains { !$0.attempts.isEmpty } ? results.removeFirst() : nil
            do throws(PostgreSQLError) {
                if let creation { refusals = Self.refusals(try creation.get(), creations) }
            } catch {
                if error.kind == .diskFull {
                    engine.recordFailure(error)
                    for store in creations { refusals[store] = .databaseFull }
                } else {
                    failed.formUnion(creations)
                    recover(loads.filter(\.isCreated), from: error)
                }
            }
            // What was read of stores that were not created is not used.
            let isUsed = { (item: Item) in !failed.contains(item.store.id) }
            do throws(PostgreSQLError) {
                let loaded = try DatabaseStatements.loaded(try load.get(), loads.map(\.store))
                if let attempts { Self.resolve(&loads, try attempts.get()) }
                guard loaded.generation == generation else {
                    // The connection settles which generation it is.
                    connection.close()
                    return putBack(loads.filter(isUsed))
                }
                let changed = engine.keep(loaded.stores, of: loads.map(\.store))
                for (index, load) in loads.enumerated() where isUsed(load) {
                    var item = load
                    item.needsLoad = false
                    item.isCurrent = true
                    item.isAdvanced = item.isAdvanced || changed[index]
                    item.isCreated = false
                    if let problem = refusals[item.store.id] {
                        let refused = item.operations.filter(\.creates)
                        item.operations.removeAll(where: \.creates)
                        engine.complete(refused.map { ($0.loop, $0.failing(with: problem)) }, advanced: [])
                    }
                    items.append(item)
                }
            } catch {
                recover(loads.filter(isUsed), from: error)
            }
        }

        /// Why stores were not created.
        private static func refusals(_ rows: PostgreSQLRows, _ creations: [StoreID]) -> [StoreID: Problem] {
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

        /// Notes which commits with lost answers have happened.
        static func resolve(_ items: inout [Item], _ rows: PostgreSQLRows) {
            let committed = DatabaseStatements.committed(rows)
            var position = 0
            for item in items.indices {
                for index in items[item].operations.indices {
                    for attempt in items[item].operations[index].attempts {
                        if committed.contains(position) {
                            items[item].operations[index].committed = attempt
                        }
                        position += 1
                    }
                }
            }
        }

        // MARK: - Committing

        private mutating func finish(
            _ commits: [Commit], _ result: Result<PostgreSQLRows, PostgreSQLError>,
            at place: AnswerPlace, since start: NIODeadline, isPublished: Bool
        ) {
            do throws(PostgreSQLError) {
                let hindrances = try DatabaseStatements.hindrances(try result.get())
                let elapsed = NIODeadline.now() - start
                var committed: [Commit] = []
                for (index, commit) in commits.enumerated() {
                    if let hindrance = hindrances[index] {
                        hinder(commit.item, hindrance)
                    } else {
                        committed.append(commit)
                    }
                }
                engine.record(committed.map(\.plan), in: elapsed)
                finish(committed, isPublished: isPublished)
            } catch {
                recover(commits, from: error, at: place)
            }
        }

        /// Nothing of the store was changed, while others of its group were.
        private mutating func hinder(_ given: Item, _ hindrance: DatabaseStatements.Hindrance) {
            var item = given
            switch hindrance {
            case .conflict:
                item.conflictCount += 1
                item.refusal = nil
                item.needsLoad = true
                engine.withState { $0.conflictCount += 1 }
            case .locked:
                item.conflictCount = Self.conflictCount
            case .refusal(let refusal):
                item.refusal = item.refusal == nil ? refusal : refusal.final
                item.isCurrent = true
            }
            items.append(item)
        }

        mutating func finish(_ commits: [Commit], isPublished: Bool = false) {
            guard !commits.isEmpty else { return }
            engine.apply(commits.map { ($0.item.store, $0.plan) }, generation: generation)
            for var commit in commits {
                commit.item.isAdvanced = true
                done(commit.item, commit.plan)
            }
            if !isPublished { engine.publish(commits.map(\.item.store.id)) }
        }

        /// Answers from the row, which has what was committed.
        mutating func done(_ item: Item, _ plan: StorePlan) {
            guard let row = item.store.row else { return putBack([item]) }
            let isWaited = item.operations.contains(where: \.isRefresh)
            finished.append(
                Finished(
                    store: item.store, isCurrent: true,
                    completions: plan.completions(on: row, now: engine.options.now()),
                    isAdvanced: item.isAdvanced || isWaited))
        }
    }

    extension DatabaseGroup.Item {
        /// The attempts of all operations whose commits may have happened.
        var attempts: [DatabaseOperation.Attempt] { operations.flatMap(\.attempts) }
    }
#endif
