/// A statement with parameters `$1`, `$2` …, which a connection prepares when it first executes it; as a literal, one
/// without parameters that is never prepared.
package struct PostgreSQLStatement: Sendable, ExpressibleByStringInterpolation {
    /// One text has one name, a constant; empty for what is never prepared.
    package let name: String
    package let text: String
    package let parameterTypes: [PostgreSQLType]

    package init(_ name: String, _ text: String, _ parameterTypes: [PostgreSQLType] = []) {
        self.name = name
        self.text = text
        self.parameterTypes = parameterTypes
    }

    package init(stringLiteral text: String) { self.init("", text) }

    func with<each Value: PostgreSQLValue>(_ values: repeat each Value) -> PostgreSQLExecution {
        var parameters = PostgreSQLParameters()
        repeat parameters.append(each values)
        return PostgreSQLExecution(self, parameters)
    }

    func with(array: some Sequence<some PostgreSQLValue>) -> PostgreSQLExecution {
        var parameters = PostgreSQLParameters()
        parameters.append(array: array)
        return PostgreSQLExecution(self, parameters)
    }
}

package struct PostgreSQLExecution: Sendable {
    package var statement: PostgreSQLStatement
    package var parameters: PostgreSQLParameters

    /// - Precondition: the parameters have the types of the statement.
    package init(_ statement: PostgreSQLStatement, _ parameters: PostgreSQLParameters = PostgreSQLParameters()) {
        precondition(parameters.types == statement.parameterTypes, statement.name)
        self.statement = statement
        self.parameters = parameters
    }
}

#if PostgreSQL
    import CPostgreSQL
    import Essentials

    extension PostgreSQLConnection {
        /// Executes a statement in a transaction of its own, or in the one that `begin` began.
        ///
        /// After a timeout the connection is closed. The server may still execute the statement: what ends it there is
        /// `statement_timeout`.
        @discardableResult
        package func execute(
            _ statement: PostgreSQLStatement,
            _ parameters: PostgreSQLParameters = PostgreSQLParameters(), timeout: Duration
        ) throws(PostgreSQLError) -> PostgreSQLRows {
            try execute(PostgreSQLExecution(statement, parameters), timeout: timeout)
        }

        @discardableResult
        package func execute(
            _ execution: PostgreSQLExecution, timeout: Duration
        ) throws(PostgreSQLError) -> PostgreSQLRows {
            try pipeline([execution], timeout: timeout)[0].get()
        }

        /// Sends all executions before it waits for the first result. Each is a transaction of its own, so that an
        /// error of one leaves the others alone. If the connection is lost, all without a result have the error
        /// `disconnected` or `timeout`.
        package func pipeline(_ executions: [PostgreSQLExecution], timeout: Duration)
            -> [Result<PostgreSQLRows, PostgreSQLError>]
        {
            var results: [Result<PostgreSQLRows, PostgreSQLError>] = []
            pipeline(executions, timeout: timeout) { results.append($0) }
            return results
        }

        /// The same; passes each result on before it waits for the next one. `receive` may close the connection, but
        /// not use it.
        package func pipeline(
            _ executions: [PostgreSQLExecution], timeout: Duration,
            _ receive: (Result<PostgreSQLRows, PostgreSQLError>) -> Void
        ) {
            if executions.isEmpty { return }
            let deadline = ContinuousClock.now + timeout
            var receivedCount = 0
            do throws(PostgreSQLError) {
                let preparing = try send(executions)
                var refused: [String: PostgreSQLError] = [:]
                for (execution, isPrepared) in zip(executions, preparing) {
                    let name = execution.statement.name
                    var result = try readResult(preparing: isPrepared ? name : nil, deadline)
                    if case .failure(let error) = result {
                        if isPrepared, !prepared.contains(name) { refused[name] = error }
                        if error.sqlState == "26000" {
                            prepared.remove(name)
                            if let cause = refused[name] { result = .failure(cause) }
                        }
                        if error.kind == .disconnected { throw error }
                    }
                    receivedCount += 1
                    receive(result)
                }
                if PQexitPipelineMode(handle) == 0 { close() }
            } catch {
                close()
                for _ in receivedCount..<executions.count { receive(.failure(error)) }
            }
        }

        /// Returns for which executions a statement is prepared.
        private func send(_ executions: [PostgreSQLExecution]) throws(PostgreSQLError) -> [Bool] {
            guard let handle else { throw closedError }
            guard PQenterPipelineMode(handle) == 1 else { throw disconnected() }
            var known = prepared
            var preparing: [Bool] = []
            for execution in executions {
                let isNew = prepares(execution.statement) && known.insert(execution.statement.name).inserted
                if isNew, !sendPreparation(execution.statement, handle) { throw disconnected() }
                // Each is flushed at once, as far as the socket takes it.
                guard send(execution, handle), PQpipelineSync(handle) == 1 else { throw disconnected() }
                preparing.append(isNew)
            }
            return preparing
        }

        private func prepares(_ statement: PostgreSQLStatement) -> Bool {
            usesPreparedStatements && !statement.name.isEmpty
        }

        private func sendPreparation(_ statement: PostgreSQLStatement, _ handle: OpaquePointer) -> Bool {
            let types = statement.parameterTypes.map { Oid($0.rawValue) }
            return PQsendPrepare(handle, statement.name, statement.text, Int32(types.count), types) == 1
        }

        private func send(_ execution: PostgreSQLExecution, _ handle: OpaquePointer) -> Bool {
            let statement = execution.statement
            let types = statement.parameterTypes.map { Oid($0.rawValue) }
            let formats = [Int32](repeating: 1, count: types.count)
            return execution.parameters.withPointers { values, lengths in
                if prepares(statement) {
                    PQsendQueryPrepared(handle, statement.name, Int32(types.count), values, lengths, formats, 1)
                } else {
                    PQsendQueryParams(handle, statement.text, Int32(types.count), types, values, lengths, formats, 1)
                }
            } == 1
        }

        /// Reads up to the end of one execution; throws if the connection is lost before.
        private func readResult(
            preparing name: String?, _ deadline: ContinuousClock.Instant
        ) throws(PostgreSQLError) -> Result<PostgreSQLRows, PostgreSQLError> {
            var unprepared = name
            var outcome: Result<PostgreSQLRows, PostgreSQLError>?
            var wasSeparator = false
            while true {
                guard let result = try nextResult(until: deadline) else {
                    // One nil separates results; two are the end of a connection.
                    if wasSeparator { throw disconnected() }
                    wasSeparator = true
                    continue
                }
                wasSeparator = false
                switch PQresultStatus(result) {
                case PGRES_PIPELINE_SYNC:
                    PQclear(result)
                    guard let outcome else { throw disconnected() }
                    return outcome
                case PGRES_COMMAND_OK where unprepared != nil:
                    PQclear(result)
                    unprepared.map { _ = prepared.insert($0) }
                    unprepared = nil
                case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                    outcome = .success(PostgreSQLRows(result))
                case PGRES_PIPELINE_ABORTED:
                    PQclear(result)
                default:
                    let failure = error(of: result)
                    PQclear(result)
                    if failure.kind == .disconnected { throw failure }
                    outcome = .failure(failure)
                }
            }
        }

        // MARK: - Scripts

        /// Executes SQL of several statements, all in one transaction unless it contains others; for migrations.
        ///
        /// - Returns: The last command, as `CREATE TABLE`.
        @discardableResult
        package func script(_ sql: String, timeout: Duration) throws(PostgreSQLError) -> String {
            let deadline = ContinuousClock.now + timeout
            guard let handle else { throw closedError }
            guard PQsendQuery(handle, sql) == 1 else { throw disconnected() }
            var failure: PostgreSQLError?
            var command = ""
            while let result = try nextResult(until: deadline) {
                defer { PQclear(result) }
                switch PQresultStatus(result) {
                case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                    command = PQcmdStatus(result).map { String(cString: $0) } ?? ""
                case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                    close()
                    throw error(.other, "a script cannot copy")
                default:
                    failure = failure ?? error(of: result)
                }
            }
            if PQstatus(handle) == CONNECTION_BAD {
                let lost = disconnected()
                throw failure?.kind == .disconnected ? failure ?? lost : lost
            }
            if let failure { throw failure }
            return command
        }

        /// - Parameter settings: `SET LOCAL …` for the transaction.
        package func begin(_ settings: String = "", timeout: Duration) throws(PostgreSQLError) {
            try script("BEGIN; \(settings)", timeout: timeout)
        }

        /// Throws also if the server rolled back because a statement had failed.
        package func commit(timeout: Duration) throws(PostgreSQLError) {
            if try script("COMMIT", timeout: timeout) == "COMMIT" { return }
            throw error(.other, "the transaction was rolled back, as a statement of it had failed")
        }

        package func rollback(timeout: Duration) throws(PostgreSQLError) {
            try script("ROLLBACK", timeout: timeout)
        }
    }
#endif
