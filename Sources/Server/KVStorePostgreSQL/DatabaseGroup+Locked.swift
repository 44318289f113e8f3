#if PostgreSQL
    import Essentials
    import KVStoreCore

    extension DatabaseGroup {
        /// A store that stays locked by somebody does not keep the connection from others.
        private static let settings = "\(Database.brief); SET LOCAL lock_timeout = 1000"

        /// One store, after conflicts: other nodes wait until this one has committed.
        mutating func runLocked(at index: Int) {
            var item = items.remove(at: index)
            let place = engine.answerPlace(0, on: connection)
            var sent: StorePlan?
            do throws(PostgreSQLError) {
                try connection.begin(Self.settings, timeout: Database.timeout)
                guard let row = try loadLocked(&item) else {
                    connection.close()
                    return putBack([item])
                }
                var plan = self.plan(item, on: row)
                // Account and store stay locked, so that the second plan is not refused.
                while plan.needsCommit {
                    let rows = try connection.execute(
                        DatabaseStatements.committing([(item.store, plan)], generation: generation, answer: place),
                        timeout: Database.timeout)
                    guard let hindrance = try DatabaseStatements.hindrances(rows)[0] else { break }
                    guard case .refusal(let refusal) = hindrance, item.refusal == nil else {
                        throw PostgreSQLError(.other, "a locked store was changed")
                    }
                    item.refusal = refusal
                    plan = self.plan(item, on: row)
                }
                sent = plan
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
                if let sent, sent.needsCommit, let row = item.store.row {
                    recover([Commit(id: row.id, plan: sent, item: item)], from: error, at: place)
                } else {
                    recover([item], from: error)
                }
            }
        }

        /// Nil if the server is of another generation, or has no such store any more.
        private func loadLocked(_ item: inout Item) throws(PostgreSQLError) -> StoreRow? {
            // Before the store, as groups do.
            if item.store.row?.isLimited == true {
                try connection.execute(
                    DatabaseStatements.lockAccount.with(item.store.id.account), timeout: Database.timeout)
            }
            try connection.execute(
                DatabaseStatements.lockStores.with(array: [item.store.row?.id ?? 0]), timeout: Database.timeout)
            let loaded = try DatabaseStatements.loaded(
                try connection.execute(DatabaseStatements.loading([item.store]), timeout: Database.timeout),
                [item.store])
            guard loaded.generation == generation, let row = loaded.stores[0] else { return nil }
            if !item.attempts.isEmpty {
                var items = [item]
                Self.resolve(
                    &items,
                    try connection.execute(DatabaseStatements.reading(item.attempts), timeout: Database.timeout))
                item = items[0]
            }
            item.isAdvanced = engine.keep([row], of: [item.store])[0] || item.isAdvanced
            // What was refused before the store was locked may fit now.
            item.refusal = nil
            return row
        }
    }
#endif
