#if PostgreSQL
    import Dispatch
    import Essentials
    import KVStoreLog
    import KVStoreServer
    import KVStoreWire
    import Synchronization

    /// Lookups and reloads, one batch at a time. As each begins with what has changed until then, what a lookup read
    /// before a change is corrected by the next batch.
    extension DatabaseDevices {
        func scheduleWork() {
            let isFirst = state.withLock { state in
                defer { state.isWorkScheduled = true }
                return !state.isWorkScheduled
            }
            if isFirst { queue.async { [self] in work() } }
        }

        /// On `queue`.
        private func work() {
            let (changes, lookups, hasFailed) = state.withLock { state in
                defer {
                    state.changes = Changes()
                    state.lookups = [:]
                    state.isWorkScheduled = false
                }
                return (state.changes, state.lookups, state.hasFailed)
            }
            var problem: Problem?
            do throws(ServerError) {
                if !changes.isEmpty || hasFailed { try load(changes) }
                try find(Array(lookups.keys))
                state.withLock { $0.hasFailed = false }
            } catch {
                report(error)
                problem = .ofDatabase(error) ?? .databaseUnavailable
                state.withLock { state in
                    state.changes.accounts.formUnion(changes.accounts)
                    state.changes.isAll = state.changes.isAll || changes.isAll
                    state.hasFailed = true
                }
                retry()
            }
            state.withLock { $0.lookupCount -= lookups.values.reduce(0) { $0 + $1.count } }
            for complete in lookups.values.joined() { complete(problem) }
        }

        private func retry() {
            let isFirst = state.withLock { state in
                defer { state.isRetryScheduled = true }
                return !state.isRetryScheduled
            }
            guard isFirst else { return }
            queue.asyncAfter(deadline: .now() + .milliseconds(Self.retryMilliseconds)) {
                [weak self] in
                guard let self else { return }
                let isClosed = state.withLock { state in
                    state.isRetryScheduled = false
                    return state.isClosed
                }
                if !isClosed { scheduleWork() }
            }
        }

        /// Loads the devices in memory again that changes are about.
        private func load(_ changes: Changes) throws(ServerError) {
            let tokens = state.withLock { state in
                changes.isAll
                    ? Array(state.cache.devices.keys)
                    : changes.accounts.flatMap { state.cache.tokens(ofAccount: $0) }
            }
            var hasChanged = false
            for batch in tokens.batches {
                let present = try devices(withTokens: batch)
                if state.withLock({ $0.update(batch, to: present) }) { hasChanged = true }
            }
            let removal = try perform(DeviceRows.oldestRemoval.with())
            if hasChanged || removal.count > 0 {
                for notify in loaded.withLock({ $0 }) { notify() }
            }
            for notify in noticed.withLock({ $0 }) { notify() }
        }

        private func find(_ tokens: [TokenDigest]) throws(ServerError) {
            for batch in tokens.batches {
                let found = try devices(withTokens: batch)
                let now = System.monotonicMilliseconds()
                let unknown = Set(batch).subtracting(found.map(\.tokenSHA256))
                state.withLock { state in
                    for device in found { state.insert(device) }
                    for token in unknown { state.cache.recordUnknown(token, now: now) }
                }
            }
        }

        private func devices(withTokens tokens: ArraySlice<TokenDigest>) throws(ServerError) -> [Device] {
            try DeviceRows.devices(try perform(DeviceRows.devicesWithTokens.with(array: tokens.map(\.bytes))))
        }
    }

    extension Array {
        /// Each for one statement.
        var batches: [ArraySlice<Element>] {
            stride(from: 0, to: count, by: DatabaseDevices.batchCount).map {
                self[$0..<Swift.min($0 + DatabaseDevices.batchCount, count)]
            }
        }
    }
#endif
