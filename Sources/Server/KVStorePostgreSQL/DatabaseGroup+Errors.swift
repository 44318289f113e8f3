#if PostgreSQL
    import Essentials
    import KVStoreCore
    import KVStoreServer
    import KVStoreWire
    import Logging
    import NIOCore

    extension DatabaseGroup {
        /// The same for what was to be committed, which may have happened if the connection was lost.
        mutating func recover(_ failed: [Commit], from error: PostgreSQLError, at place: AnswerPlace) {
            let isLost = [.disconnected, .timeout].contains(error.kind)
            let failedItems = failed.enumerated().map { index, commit in
                var item = commit.item
                if isLost {
                    item.operations = commit.plan.uncertainOperations(at: place, ordinal: index + 1)
                }
                return item
            }
            guard error.kind == .diskFull else { return recover(failedItems, from: error) }
            engine.recordFailure(error)
            items += failedItems.map { failed in
                var item = failed
                item.refusal = .diskFull
                item.needsLoad = !item.isCurrent
                return item
            }
        }

        /// Repeats what may succeed later, by itself what may have failed because of another store, and fails the
        /// others.
        mutating func recover(_ failed: [Item], from error: PostgreSQLError) {
            guard !failed.isEmpty else { return }
            switch error.kind {
            case .disconnected, .timeout:
                engine.recordFailure(error, on: connection)
                return putBack(failed)
            case .cannotConnect, .cannotEncrypt, .authentication, .readOnly,
                .missingPreparedStatement:
                engine.recordFailure(error)
                connection.close()
                return putBack(failed)
            case .outOfResources:
                engine.recordFailure(error)
                usleep(50_000)
                if !separate(failed) { putBack(failed) }
                return
            case .conflict, .canceled:
                if !separate(failed) { putBack(failed, isSuspect: true) }
                return
            case .diskFull:
                engine.recordFailure(error)
                if !separate(failed) { fail(failed, with: .databaseFull) }
                return
            case .invalidAddress, .undefined, .other: break
            }
            if error.sqlState == "UB001" {
                connection.close()
                return putBack(failed)
            }
            if separate(failed) { return }
            if failed[0].operations.count > 1 {
                var item = failed[0]
                for index in item.operations.indices { item.operations[index].isAlone = true }
                return putBack([item], isSuspect: true)
            }
            engine.logger.error("the database refused a request: \(error.message)")
            fail(failed, with: .databaseFailed)
        }

        /// Sends each store of a group that failed by itself; false if there is only one.
        private mutating func separate(_ failed: [Item]) -> Bool {
            guard failed.count > 1 else { return false }
            engine.countRepetition()
            items += failed.map { failed in
                var item = failed
                item.isSeparate = true
                return item
            }
            return true
        }

        private mutating func fail(_ failed: [Item], with problem: Problem) {
            finished += failed.map { item in
                Finished(
                    store: item.store, isSuspect: true,
                    completions: item.operations.map { ($0.loop, $0.failing(with: problem)) })
            }
        }

        /// Fails what has waited long enough.
        ///
        /// - Parameter isSuspect: whether the stores were by themselves.
        mutating func putBack(_ items: [Item], isSuspect: Bool = false) {
            let now = NIODeadline.now()
            if items.contains(where: { !$0.operations.isEmpty }) { engine.countRepetition() }
            finished += items.map { item in
                var result = Finished(store: item.store, isSuspect: isSuspect)
                for operation in item.operations {
                    if operation.deadline > now {
                        result.repeated.append(operation)
                    } else {
                        result.completions.append((operation.loop, operation.expired(.databaseUnavailable)))
                    }
                }
                return result
            }
        }
    }
#endif
