#if PostgreSQL
    import Essentials
    package import KVStoreCore
    package import KVStoreLedger
    package import KVStoreServer
    package import KVStoreWire
    import NIOCore

    /// The door.
    extension DatabaseEngine {
        package func sync(
            _ request: SyncRequest, store: StoreID, by device: Device, on loop: WatcherRegistry,
            _ complete: @escaping Completion<SyncResponse>
        ) {
            let mayCreate = device.scopes.contains(.write)
            enqueue(.sync(request, mayCreate: mayCreate, complete), store, on: loop)
        }

        package func write(
            _ content: StoreRecord.Content, forKey key: StoreKey, store: StoreID, if precondition: Precondition,
            by device: Device?, replica: ReplicaID, on loop: WatcherRegistry,
            _ complete: @escaping Completion<SequencedRecord>
        ) {
            enqueue(.write(content, key, precondition, replica, complete), store, on: loop)
        }

        package func value(
            of key: StoreKey, in store: StoreID, on loop: WatcherRegistry,
            _ complete: @escaping Completion<SequencedRecord?>
        ) {
            enqueue(.value(key, complete), store, on: loop)
        }

        package func values(
            in store: StoreID, where isIncluded: @escaping @Sendable (StoreKey) -> Bool, on loop: WatcherRegistry,
            _ complete: @escaping Completion<[SequencedRecord]?>
        ) {
            enqueue(.values(where: isIncluded, complete), store, on: loop)
        }

        package func end(of store: StoreID, on loop: WatcherRegistry, _ complete: @escaping Completion<SyncCursor>) {
            enqueue(.end(complete), store, on: loop)
        }

        package func remove(_ store: StoreID, on loop: WatcherRegistry, _ complete: @escaping Completion<Void>) {
            enqueue(.remove(complete), store, on: loop)
        }

        package func removeStores(
            ofAccount account: String, count: Int, on loop: WatcherRegistry, _ complete: @escaping Completion<Bool>
        ) {
            stores(ofAccount: account, on: loop) { [self] stores in
                do throws(Problem) {
                    let found = try stores.get()
                    var left = min(count, found.count)
                    guard left > 0 else { return complete(.success(false)) }
                    var failure: Problem?
                    for store in found.prefix(count) {
                        remove(StoreID(account: account, name: store.store), on: loop) { result in
                            // Another node may remove them too.
                            if case .failure(let problem) = result, problem != .unknownStore {
                                failure = problem
                            }
                            left -= 1
                            guard left == 0 else { return }
                            complete(failure.map { .failure($0) } ?? .success(found.count >= count))
                        }
                    }
                } catch {
                    complete(.failure(error))
                }
            }
        }

        package func stores(
            ofAccount account: String, on loop: WatcherRegistry, _ complete: @escaping Completion<[StoreList.Store]>
        ) {
            query(on: loop, complete) { connection throws(PostgreSQLError) in
                let rows = try connection.execute(DatabaseStatements.stores.with(account), timeout: Database.timeout)
                return (0..<rows.count).map { row in
                    let state = rows.withBytes(row, 3) { $0.flatMap { Hub.State(encoded: $0) } }
                    return StoreList.Store(
                        name: rows.text(row, 0) ?? "", end: state.map { Hub($0).end } ?? Hub().end,
                        keyCount: Int(rows.int64(row, 1) ?? 0), byteCount: Int(rows.int64(row, 2) ?? 0))
                }
            }
        }

        package func accountTotals(
            on loop: WatcherRegistry, _ complete: @escaping Completion<[String: AccountTotals]>
        ) {
            query(on: loop, complete) { connection throws(PostgreSQLError) in
                let rows = try connection.execute(DatabaseStatements.totals, timeout: Database.timeout)
                return DatabaseStatements.totals(rows)
            }
        }

        private func query<Value>(
            on loop: WatcherRegistry, _ complete: @escaping Completion<Value>,
            _ body: @escaping (PostgreSQLConnection) throws(PostgreSQLError) -> Value
        ) {
            let query = DatabaseQuery(
                loop: loop.index, deadline: .now() + options.patience,
                run: { connection throws(PostgreSQLError) in
                    let value = try body(connection)
                    return { complete(.success(value)) }
                }, fail: { complete(.failure($0)) })
            let problem = withState { state -> Problem? in
                if let problem = admission(to: state) { return problem }
                state.waitingCount += 1
                state.queries.append(query)
                scheduleDispatch(after: loop, &state)
                return nil
            }
            if let problem { query.fail(problem) }
        }

        private func enqueue(_ request: DatabaseOperation.Request, _ store: StoreID, on loop: WatcherRegistry) {
            let operation = DatabaseOperation(request, loop: loop.index, deadline: .now() + options.patience)
            let problem = withState { state -> Problem? in
                if let problem = admission(to: state) { return problem }
                state.waitingCount += 1
                state.cache.add(operation, to: state.cache.makeStore(store))
                scheduleDispatch(after: loop, &state)
                return nil
            }
            if let problem { operation.failing(with: problem)() }
        }

        private func admission(to state: State) -> Problem? {
            if state.isClosing { return .stopping }
            if state.hasMoved { return .databaseMoved }
            return state.waitingCount < options.waitingCount ? nil : .busy
        }

        /// At the end of the tick: what an event loop reads in one tick is a group.
        func scheduleDispatch(after loop: WatcherRegistry, _ state: inout State) {
            guard !state.isDispatchScheduled, !state.idle.isEmpty else { return }
            state.isDispatchScheduled = true
            loop.loop.execute { [self] in
                withState { $0.isDispatchScheduled = false }
                wakeWorkers()
            }
        }

        /// Wakes a worker, which takes what waits.
        func wakeWorkers(all: Bool = false) {
            let woken = withState { state in
                let count = all ? state.idle.count : min(1, state.idle.count)
                defer { state.idle.removeLast(count) }
                return state.idle.suffix(count)
            }
            for worker in woken { worker.wake() }
        }
    }

    // MARK: - Live readers

    extension DatabaseEngine {
        package func durableSequence(of store: StoreID) -> UInt64 {
            withState { $0.cache.store(store)?.row?.hub.sequence ?? 0 }
        }

        package func page(of store: StoreID, after cursor: SyncCursor, limits: PageLimits) -> LivePage {
            withState { state in
                guard let found = state.cache.store(store), found.isLoaded else { return .pending }
                guard let row = found.row, row.generation == state.generation else {
                    return found.row == nil ? .ended : .pending
                }
                guard !row.hub.endsStream(at: cursor) else { return .ended }
                let durable = row.hub.sequence
                return .changes(
                    row.hub.page(
                        after: cursor.sequence, through: max(cursor.sequence, durable),
                        limits: limits), durable: durable)
            }
        }

        /// The first live reader of a store on an event loop has come, or the last one has gone.
        func changeInterest(in id: StoreID, _ isWatched: Bool, on loop: WatcherRegistry) {
            withState { state in
                let store = state.cache.makeStore(id)
                store.watcherCount += isWatched ? 1 : -1
                guard isWatched else { return state.cache.dropIfUnused(store) }
                refresh(store, &state)
                scheduleDispatch(after: loop, &state)
            }
        }

        /// Other nodes have changed stores.
        ///
        /// - Returns: While there is little to do, those that live readers wait for and nobody else uses: checked out,
        ///   for the listener to read at once.
        func takeChanged(of stores: some Sequence<StoreID>) -> [TakenStore] {
            let (taken, isWaiting) = withState { state in
                var taken: [TakenStore] = []
                for id in stores {
                    guard let store = state.cache.store(id) else { continue }
                    store.isStale = true
                    guard store.watcherCount > 0 else { continue }
                    if taken.count < Self.storeLimit, !state.isBusy, store.row != nil,
                        store.operations.isEmpty, !store.isCheckedOut, !state.isClosing
                    {
                        store.isCheckedOut = true
                        state.waitingCount += 1
                        taken.append((store, [.refresh]))
                    } else {
                        refresh(store, &state)
                    }
                }
                return (taken, !state.cache.isQueueEmpty)
            }
            if isWaiting { wakeWorkers() }
            return taken
        }

        /// Reads what is newer of a store and wakes its live readers, once for all that asks before it begins.
        func refresh(_ store: CachedStore, _ state: inout State) {
            store.isStale = true
            let isWaiting = store.operations.contains(where: \.isRefresh)
            guard !isWaiting, !state.isClosing else { return }
            state.waitingCount += 1
            state.cache.add(.refresh, to: store)
        }
    }
#endif
