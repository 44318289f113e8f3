#if PostgreSQL
    import KVStoreCore
    import KVStoreServer
    import Logging
    import NIOCore
    import Synchronization

    /// What groups do to the state of the engine.
    extension DatabaseEngine {
        /// What was read of stores that are checked out; returns which of them live readers have to look at.
        func keep(_ rows: [StoreRow?], of stores: [CachedStore]) -> [Bool] {
            recordSuccess()
            return withState { _ in
                zip(stores, rows).map { store, row in
                    let isChanged = (store.row?.version, store.row?.generation) != (row?.version, row?.generation)
                    store.row = row
                    store.isLoaded = true
                    return isChanged
                }
            }
        }

        /// What was committed of stores that are checked out. In place: a copy of a row would copy its store.
        func apply(_ commits: [(store: CachedStore, plan: StorePlan)], generation: Int64) {
            recordSuccess(ofCommit: true)
            let wasFull = withState { state in
                for (store, plan) in commits where store.row != nil {
                    plan.commit(to: &store.row!, generation: generation)
                }
                guard let full = state.full, .now() - full > .seconds(10) else { return false }
                state.full = nil
                return true
            }
            if wasFull { logger.notice("the disk of the database has space again") }
        }

        /// The node stays ready, as reads go on.
        func recordFullDisk(_ error: PostgreSQLError) {
            let isFirst = withState { state in
                defer { state.full = .now() }
                return state.full == nil
            }
            if isFirst { logger.error("the database has no space: \(error.message)") }
        }

        /// - Parameter generation: of the rows, which do not count in another one.
        func finish(_ stores: [DatabaseGroup.Finished], generation: Int64) {
            let isWaiting = withState { state in
                for finished in stores {
                    let store = finished.store.id
                    if finished.isSuspect {
                        state.cache.suspect(store)
                    } else if finished.isCurrent {
                        state.cache.clear(store)
                    }
                    let isOutdated = state.generation != generation
                    if !finished.isCurrent || isOutdated { finished.store.forget() }
                    // After a refusal, the sweep tries again.
                    if isOutdated, finished.store.watcherCount > 0 {
                        refresh(finished.store, &state)
                    }
                    state.cache.putBack(finished.store, repeating: finished.repeated)
                }
                return !state.cache.isQueueEmpty
            }
            complete(stores.flatMap(\.completions), advanced: stores.filter(\.isAdvanced).map(\.store.id))
            if isWaiting { wakeWorkers() }
        }

        /// A group, or a part of it, is sent again.
        func countRepetition() { withState { $0.repetitionCount += 1 } }

        /// For the next group on a connection.
        func answerPlace(_ place: Int32, on connection: PostgreSQLConnection) -> AnswerPlace {
            AnswerPlace(
                node: node, connection: connection.id, place: place,
                number: answerCount.add(1, ordering: .relaxed).newValue)
        }

        func record(_ plans: [StorePlan], in elapsed: TimeAmount) {
            guard !plans.isEmpty else { return }
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

        func publish(_ stores: [StoreID]) {
            guard !stores.isEmpty else { return }
            listener?.publish(stores)
        }
    }
#endif
