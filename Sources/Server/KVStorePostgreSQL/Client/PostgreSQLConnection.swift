// PostgreSQL through libpq: connections, statements, parameters and rows in binary form, errors. Not here: a pool,
// repetitions, and the statements of a schema.

#if PostgreSQL
    import CPostgreSQL
    import Essentials
    import Synchronization

    /// One connection to a server. Its calls block their thread until a deadline.
    ///
    /// Unchecked: threads may take turns with it, and whoever owns it lets only one use it at a time.
    package final class PostgreSQLConnection: @unchecked Sendable {
        /// Nil once the connection is closed.
        private(set) var handle: OpaquePointer?
        /// False behind a pooler in transaction mode: each execution then sends its text.
        let usesPreparedStatements: Bool
        var prepared: Set<String> = []
        /// Tells the connections of this process apart.
        package let id = count.add(1, ordering: .relaxed).newValue
        private static let count = Atomic<Int64>(0)
        /// Host, port and database, for messages.
        package let endpoint: String
        let redaction: Redaction

        /// Connects to the first host that accepts the connection.
        ///
        /// - Parameters:
        ///   - address: a `postgres://` URI or `key=value` pairs as libpq reads them, also with several hosts or
        ///     `service=`;
        ///     `PG…` variables and password files are read too. TLS with verification is the default for hosts that
        ///     are neither sockets nor loopback addresses, and `target_session_attrs` is `read-write`.
        ///   - applicationName: unless the address names one.
        ///   - timeout: for all hosts together. Only the system's resolver can exceed it.
        ///   - avoided: the `endpoint` of a connection to a host that is tried after the others.
        package init(
            _ address: String, applicationName: String, timeout: Duration,
            usesPreparedStatements: Bool = true, avoiding avoided: String? = nil
        ) throws(PostgreSQLError) {
            let opened = try Self.open(address, applicationName, .now + timeout, avoiding: avoided)
            handle = opened.handle
            endpoint = opened.endpoint
            redaction = opened.redaction
            self.usesPreparedStatements = usesPreparedStatements
            PQsetnonblocking(handle, 1)
        }

        deinit { close() }

        /// Safe to call twice.
        package func close() {
            guard let handle else { return }
            PQfinish(handle)
            self.handle = nil
        }

        /// False after `close`, a lost connection and a timeout; nothing reopens it. A server that ended shows only at
        /// the next call.
        package var isOpen: Bool { handle != nil }

        /// As in notifications that this connection causes; 0 once it is closed.
        package var backendProcessID: Int32 { PQbackendPID(handle) }

        /// As 150020 for 15.20.
        package var serverVersion: Int { Int(PQserverVersion(handle)) }

        // MARK: - Waiting

        /// The next result of what was sent, nil between and after results. Closes the connection at the deadline.
        func nextResult(until deadline: ContinuousClock.Instant) throws(PostgreSQLError) -> OpaquePointer? {
            guard let handle else { throw closedError }
            while true {
                // What cannot be sent to a lost server is reported with the result.
                let isUnsent = PQflush(handle) == 1
                if PQisBusy(handle) == 0 { return PQgetResult(handle) }
                var slots = [pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)]
                if isUnsent { slots[0].events |= Int16(POLLOUT) }
                guard Self.poll(&slots, until: deadline) else {
                    close()
                    throw error(.timeout, "no answer before the deadline")
                }
                let isReadable = slots[0].revents & ~Int16(POLLOUT) != 0
                // What the server sent before it ended is still to be returned.
                if isReadable, PQconsumeInput(handle) == 0 { return PQgetResult(handle) }
            }
        }

        /// Waits until a descriptor is ready; false if none is at the deadline.
        static func poll(_ slots: inout [pollfd], until deadline: ContinuousClock.Instant) -> Bool {
            while true {
                let rest = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
                let milliseconds = Int32(min(max(0, rest.rounded(.up)), 1_000_000))
                let count = Essentials.poll(&slots, nfds_t(slots.count), milliseconds)
                if count > 0 { return true }
                if count < 0, errno != EINTR { return true }
                if milliseconds == 0 { return false }
            }
        }

        // MARK: - Errors

        var closedError: PostgreSQLError { error(.disconnected, "the connection is closed") }

        func error(_ kind: PostgreSQLError.Kind, sqlState: String? = nil, _ text: String) -> PostgreSQLError {
            PostgreSQLError(kind, sqlState: sqlState, redaction.redact("\(endpoint): \(text)"))
        }

        /// Closes the connection, which is of no use any more.
        func disconnected() -> PostgreSQLError {
            guard let handle else { return closedError }
            let text = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
            close()
            return error(.disconnected, text.isEmpty ? "the connection was lost" : text)
        }

        /// The error of a result, without its detail, which can contain values.
        func error(of result: OpaquePointer) -> PostgreSQLError {
            let field = { (code: Character) in
                PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
            }
            let state = field("C")
            let text = field("M") ?? PQresultErrorMessage(result).map { String(cString: $0) } ?? ""
            let isLost = PQstatus(handle) == CONNECTION_BAD
            let kind = isLost ? .disconnected : state.map(PostgreSQLError.kind(ofState:)) ?? .other
            return error(kind, sqlState: state, text)
        }
    }
#endif
