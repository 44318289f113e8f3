#if PostgreSQL
    import KVStoreCore
    import KVStoreServer
    import NIOCore

    /// What groups do to the state of the engine.
    extension DatabaseEngine {
        /// What was read of stores that are checked out.
        func keep(_ rows: [StoreRow?], of stores: [CachedStore]) {
            noteSuccess()
            withState { _ in
                for (store, row) in zip(stores, rows) {
                    store.row = row
                    store.isLoaded = true
                }
            }
        }

        /// What was committed of stores that are checked out. In place: a copy of a row would copy its store.
        func apply(
            _ commits: [(store: CachedStore, plan: StorePlan)], generation: Int64
        ) {
            noteSuccess()
            withState { _ in
                for (store, plan) in commits where store.row != nil {
                    plan.commit(to: &store.row!, generation: generation)
                }
            }
        }

        /// - Parameter generation: of the rows, which do not count in another one.
        func finish(_ stores: [DatabaseGroup.Finished], generation: Int64) {
            let isWaiting = withState { state in
                for finished in stores {
                    if !finished.isCurrent || state.generation != generation {
                        finished.store.forget()
                    }
                    state.cache.putBack(finished.store, repeating: finished.repeated)
                }
                return !state.cache.isQueueEmpty
            }
            complete(
                stores.flatMap(\.completions),
                advanced: stores.filter(\.isAdvanced).map(\.store.id))
            if isWaiting { wakeWorkers() }
        }

        func note(_ plans: [StorePlan], in elapsed: TimeAmount) {
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
