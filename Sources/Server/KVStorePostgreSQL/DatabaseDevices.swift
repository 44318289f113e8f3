#if PostgreSQL
    import Dispatch
    import Essentials
    package import KVStoreServer
    package import KVStoreWire
    import KVStoreLog
    package import Logging
    import Synchronization

    /// The devices of a database, for one of its nodes: looks tokens up when they are first used, keeps what it has
    /// found, and loads that again when it is told of a change. Safe to call from any thread.
    package final class DatabaseDevices: DeviceDirectory {
        struct State {
            var cache: DeviceCache
            var presence = DevicePresence()
            var generation: UInt64 = 0
            var changes = Changes()
            /// What waits for the device of a token.
            var lookups: [TokenDigest: [@Sendable (Problem?) -> Void]] = [:]
            var lookupCount = 0
            var isWorkScheduled = false
            /// Whether the last lookup or reload failed, so that another follows.
            var hasFailed = false
            var isRetryScheduled = false
            var unwritten = UnwrittenPresence()
            var isClosed = false
        }

        /// What may have changed and has not been loaded yet.
        struct Changes {
            var accounts: Set<String> = []
            var isAll = false
            var isEmpty: Bool { accounts.isEmpty && !isAll }
        }

        package let instance: String
        let devices: DeviceDatabase
        let node: Int64
        let logger: Logger
        let state: Mutex<State>
        /// Run after a device in memory has changed.
        let loaded = Mutex<[@Sendable () -> Void]>([])
        /// Run after any change.
        let noticed = Mutex<[@Sendable () -> Void]>([])
        /// Its statements run one at a time.
        let queue = DispatchQueue(label: "ubiquity.devices")
        /// Used on `queue`.
        nonisolated(unsafe) private var connection: PostgreSQLConnection?
        /// Why there is no connection, and until when none is tried, in milliseconds of the monotonic clock. Used on
        /// `queue`.
        nonisolated(unsafe) private var refusal: (error: ServerError, end: Int64)?
        /// Used on `queue`.
        nonisolated(unsafe) private var lastError: String?

        /// Requests that wait for a lookup at a time; beyond, they are `busy`.
        static let lookupLimit = 10_000
        /// Tokens or devices in one statement.
        static let batchCount = 2_000
        static let retryMilliseconds = 250

        /// - Parameters:
        ///   - node: the id of this node, as the table `node` has it.
        ///   - countLimit: on the devices in memory.
        package init(_ devices: DeviceDatabase, node: Int64, logger: Logger, countLimit: Int = 100_000) {
            self.devices = devices
            instance = devices.instance
            self.node = node
            self.logger = logger
            self.countLimit = countLimit
            state = Mutex(State(cache: DeviceCache(limit: countLimit)))
        }

        package var storage: (any DeviceStorage)? { devices }
        package let countLimit: Int
        package var isReadable: Bool { state.withLock { !$0.hasFailed } }
        package var count: Int { state.withLock { $0.cache.devices.count } }
        package var generation: UInt64 { state.withLock { $0.generation } }

        package var table: DeviceTable {
            let known = state.withLock { Array($0.cache.devices.values) }
            return DeviceTable(
                instance: instance, devices: known.sorted { ($0.account, $0.created) < ($1.account, $1.created) })
        }

        // MARK: - Authentication

        package func find(_ digest: TokenDigest, now: Int64) -> FoundDevice {
            let uptime = System.monotonicMilliseconds()
            return state.withLock { state in
                let found = state.cache.find(digest, now: uptime)
                if case .device(let device) = found { state.presence.markSeen(device.id, now: now) }
                return found
            }
        }

        package func lookUp(_ digest: TokenDigest, _ complete: @escaping @Sendable (Problem?) -> Void) {
            let problem: Problem? = state.withLock { state in
                if state.isClosed { return .databaseUnavailable }
                guard state.lookupCount < Self.lookupLimit else { return .busy }
                state.lookupCount += 1
                state.lookups[digest, default: []].append(complete)
                return nil
            }
            if let problem { complete(problem) } else { scheduleWork() }
        }

        package func markSeen(_ id: String, now: Int64) {
            state.withLock { $0.presence.markSeen(id, now: now) }
        }

        package func isCurrent(_ device: Device) -> Bool {
            state.withLock {
                $0.cache.devices[device.tokenSHA256]?.hasSamePermissions(as: device) ?? false
            }
        }

        /// The engine checks it with each commit.
        package func admits(account: String) -> Bool { false }

        // MARK: - Changes

        /// A device of the account may have changed, or the account: to be called for each notification, and with nil
        /// for any account when notifications may have been missed. Returns at once.
        package func markChanged(ofAccount account: String?) {
            state.withLock { state in
                if let account {
                    state.changes.accounts.insert(account)
                } else {
                    state.changes.isAll = true
                }
                // What has been added is found at once.
                state.cache.forgetUnknown()
            }
            scheduleWork()
        }

        package func refresh() { markChanged(ofAccount: nil) }

        package func change<Value: Sendable>(
            _ selection: DeviceSelection, _ body: (inout DeviceTable) throws(ServerError) -> Value
        ) throws(ServerError) -> Value {
            var changed: DeviceTable?
            do throws(ServerError) {
                let value = try devices.change(selection) { table throws(ServerError) in
                    let value = try body(&table)
                    changed = table
                    return value
                }
                if let changed { apply(changed) }
                return value
            } catch {
                // Only the answer to the commit may have been lost.
                for account in changed?.accounts ?? [] { markChanged(ofAccount: account.name) }
                throw error
            }
        }

        /// Puts the accounts of a table that has been committed in force.
        private func apply(_ table: DeviceTable) {
            let accounts = (table.accounts ?? []).map(\.name)
            let hasChanged = state.withLock { state in
                let tokens = accounts.flatMap { state.cache.tokens(ofAccount: $0) }
                // Loaded once more, as a lookup may have read what was there before.
                state.changes.accounts.formUnion(accounts)
                return state.update(tokens, to: table.devices)
            }
            if hasChanged { for notify in loaded.withLock({ $0 }) { notify() } }
            scheduleWork()
        }

        package func observe(updating accounts: AccountRegistry, _ notify: @escaping @Sendable () -> Void) {
            loaded.withLock { $0.append(notify) }
            queue.async { [weak self] in
                guard let self else { return }
                _ = try? perform(DeviceRows.deleteAbandonedPresence.with(node))  // the next start does it
            }
            schedulePresence()
        }

        package func addObserver(_ notify: @escaping @Sendable () -> Void) {
            noticed.withLock { $0.append(notify) }
        }

        /// Ends background work, and removes what other nodes were told of this one's devices.
        package func close() async {
            state.withLock { $0.isClosed = true }
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    if let connection, connection.isOpen {
                        // Other nodes delete what is abandoned.
                        _ = try? connection.run(DeviceRows.deletePresence.with(node), timeout: .seconds(2))
                    }
                    connection?.close()
                    connection = nil
                    continuation.resume()
                }
            }
        }

        // MARK: - Queries

        package func describe(
            account: String, _ complete: @escaping @Sendable (Result<[DaemonDevice], Problem>) -> Void
        ) {
            query(complete) { [self] () throws(ServerError) in
                let rows = try perform(DeviceRows.describedDevices.with(account, node))
                let devices = try DeviceRows.devices(rows)
                return devices.indices.map { row in
                    let (seen, isHere) = presence(of: devices[row].id)
                    let elsewhere = rows.int64(row, DeviceRows.columnCount)
                    let isElsewhere = rows.bool(row, DeviceRows.columnCount + 1) ?? false
                    return DaemonDevice(
                        devices[row], lastSeen: [seen, elsewhere].compactMap { $0 }.max(),
                        isConnected: isHere || isElsewhere)
                }
            }
        }

        package func devices(
            ofAccounts accounts: Set<String>, _ complete: @escaping @Sendable (Result<[Device], Problem>) -> Void
        ) {
            query(complete) { [self] () throws(ServerError) in
                try DeviceRows.devices(try perform(DeviceRows.devices(ofAccounts: accounts.sorted())))
            }
        }

        private func query<Value: Sendable>(
            _ complete: @escaping @Sendable (Result<Value, Problem>) -> Void,
            _ body: @escaping @Sendable () throws(ServerError) -> Value
        ) {
            queue.async { [self] in
                do throws(ServerError) {
                    let value = try body()
                    complete(.success(value))
                } catch {
                    report(error)
                    complete(.failure(.ofDatabase(error) ?? .databaseUnavailable))
                }
            }
        }

        /// Executes a statement, a transaction of its own that may be repeated. On `queue`.
        func perform(_ execution: PostgreSQLExecution) throws(ServerError) -> PostgreSQLRows {
            let wasOpen = connection?.isOpen == true
            var results = try openConnection().pipeline([execution], timeout: Database.timeout)
            // The server may have ended long ago, and another one taken its place.
            if wasOpen, case .failure(let error) = results[0], error.kind == .disconnected {
                results = try openConnection().pipeline([execution], timeout: Database.timeout)
            }
            let rows = try ServerError.wrapping(results[0].get)
            if lastError != nil { logger.notice("devices are read again") }
            lastError = nil
            return rows
        }

        private func openConnection() throws(ServerError) -> PostgreSQLConnection {
            if let connection, connection.isOpen { return connection }
            // Those that have waited for an attempt do not wait for one each.
            if let refusal, refusal.end > System.monotonicMilliseconds() { throw refusal.error }
            do throws(PostgreSQLError) {
                let opened = try devices.database.connect(as: "devices").connection
                connection = opened
                refusal = nil
                return opened
            } catch {
                let end = System.monotonicMilliseconds() + Int64(Self.retryMilliseconds)
                refusal = (ServerError(error), end)
                throw ServerError(error)
            }
        }

        /// Once for each reason. On `queue`.
        func report(_ error: ServerError) {
            guard error.message != lastError else { return }
            lastError = error.message
            logger.error("cannot read devices: \(error)")
        }
    }

    extension DatabaseDevices.State {
        /// Replaces what is in memory of the tokens; returns whether anything has changed.
        mutating func update(_ tokens: some Sequence<TokenDigest>, to present: [Device]) -> Bool {
            let hasChanged = cache.update(tokens, to: present)
            if hasChanged { generation += 1 }
            return hasChanged
        }

        mutating func insert(_ device: Device) {
            cache.insert(device) { [presence] device in
                presence.streams[device.id] == nil ? presence.lastSeen[device.id] ?? 0 : nil
            }
        }
    }
#endif
