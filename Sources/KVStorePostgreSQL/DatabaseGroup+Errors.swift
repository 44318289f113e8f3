#if PostgreSQL
    import Essentials
    import KVStoreCore
    import KVStoreLog
    import KVStoreServer
    import KVStoreWire
    import Logging
    import NIOCore
    import PostgreSQLClient

    extension DatabaseGroup {
        enum Refusal {
            case accountFull, tooManyStores

            func problem(_ limits: (byteCount: Int64?, storeCount: Int32?)) -> Problem {
                switch self {
                case .accountFull: Problem(.accountFull(limit: Int(limits.byteCount ?? 0)))
                case .tooManyStores:
                    .tooManyStores(
                        limit: Int(limits.storeCount ?? DatabaseStatements.storesPerAccount))
                }
            }
        }

        /// Repeats what may succeed later, alone what may have failed because of another request, and fails the others.
        mutating func recover(
            _ failed: [Item], from error: PostgreSQLError, isCommit: Bool
        ) {
            var failed = failed
            switch error.kind {
            case .disconnected, .timeout:
                engine.noteFailure(error, on: connection)
                if isCommit {
                    for index in failed.indices { failed[index].markUncertain() }
                }
                return putBack(failed)
            case .cannotConnect, .cannotEncrypt, .authentication, .readOnly,
                .missingPreparedStatement:
                engine.noteFailure(error)
                connection.close()
                return putBack(failed)
            case .conflict, .canceled: return putBack(failed)
            case .outOfResources:
                engine.noteFailure(error)
                usleep(50_000)
                return putBack(failed)
            case .diskFull:
                engine.noteFailure(error)
                return fail(failed, with: .databaseFull)
            case .invalidAddress, .undefined, .other: break
            }
            if error.sqlState == "UB001" {
                connection.close()
                return putBack(failed)
            }
            if failed.count > 1 || (failed.first?.operations.count ?? 0) > 1 {
                for index in failed.indices { failed[index].markAlone() }
                return putBack(failed)
            }
            switch error.sqlState {
            case "UB002": fail(failed, with: .unauthorized)
            case "UB003": refuse(failed, .accountFull)
            case "UB004": refuse(failed, .tooManyStores)
            default:
                engine.logger.error("the database refused a request: \(error.message)")
                fail(failed, with: .databaseFailed)
            }
        }

        private mutating func refuse(_ failed: [Item], _ refusal: Refusal) {
            for var item in failed {
                item.needsLoad = true
                item.refusal = refusal
                items.append(item)
            }
        }

        mutating func fail(_ failed: [Item], with problem: Problem) {
            finished += failed.map { item in
                Finished(
                    store: item.store,
                    completions: item.operations.map { ($0.loop, $0.failing(with: problem)) })
            }
        }

        /// Fails what has waited long enough.
        mutating func putBack(_ items: [Item]) {
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
#endif
