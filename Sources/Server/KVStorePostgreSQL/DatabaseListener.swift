#if PostgreSQL
    import Dispatch
    import Essentials
    import KVStoreCore
    import KVStoreEssentials
    import KVStoreServer
    import Synchronization

    /// A thread with the connection on which a node is notified of other nodes' changes, and notifies them of its own.
    ///
    /// Notifications are hints: they may be lost, late and doubled. What counts is the sweep, which compares the
    /// versions of all stores that live readers wait for: after each connection, and from time to time; often where a
    /// pooler keeps notifications back.
    ///
    /// The payload is the node in hexadecimal digits, then each store as `account/name`; or `*` for more than fits,
    /// `hello` of a node that has begun to listen.
    final class DatabaseListener: @unchecked Sendable {
        private let engine: DatabaseEngine
        private let pipe: (read: Int32, write: Int32)
        private let outgoing = Mutex(Outgoing())
        private var connection: PostgreSQLConnection?
        /// Whether other nodes may be running.
        private let hasOthers = Atomic(false)
        private let node: String
        private var nextHeartbeat = ContinuousClock.now
        private var nextSweep = ContinuousClock.now
        private var lastNotification = ContinuousClock.now
        private let ended = DispatchSemaphore(value: 0)

        private struct Outgoing {
            var stores: Set<StoreID> = []
            var isStopping = false
        }

        private static let channel = "ubiquity_stores"
        private static let payloadByteCount = 7_900
        private static let heartbeat = Duration.seconds(5)
        /// Between two notifications under load, as each wakes all nodes.
        private static let pause = Duration.milliseconds(4)

        init(_ engine: DatabaseEngine) {
            self.engine = engine
            node = String(engine.node, radix: 16)
            var ends: [Int32] = [-1, -1]
            precondition(Essentials.pipe(&ends) == 0, "no descriptor is left for a pipe")
            for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
            pipe = (ends[0], ends[1])
        }

        deinit {
            _ = Essentials.close(pipe.read)
            _ = Essentials.close(pipe.write)
        }

        /// Returns when the node listens, or is connected to a database that does not commit or has no space.
        func start() throws(ServerError) {
            do throws(PostgreSQLError) { try open() } catch {
                guard [.timeout, .diskFull].contains(error.kind), connection != nil else { throw ServerError(error) }
                engine.recordFailure(error, on: connection)
            }
            DispatchQueue(label: "ubiquity.kvsd.notifications", qos: .userInteractive).async {
                [self] in
                run()
                ended.signal()
            }
        }

        /// Returns when the thread has ended. Call it once.
        func stop() {
            outgoing.withLock { $0.isStopping = true }
            wake()
            ended.wait()
        }

        /// Notifies other nodes, to be sent right after the commit, which is two changes between threads earlier than
        /// `publish`; nil without other nodes, and under load, when `publish` gathers what many commits have changed.
        func notification(of stores: [StoreID]) -> PostgreSQLExecution? {
            guard hasOthers.load(ordering: .relaxed), !engine.isBusy else { return nil }
            return Self.notification(Self.payload(of: Set(stores)), from: node)
        }

        /// Notifies other nodes; returns at once.
        func publish(_ stores: [StoreID]) {
            guard hasOthers.load(ordering: .relaxed) else { return }
            let isFirst = outgoing.withLock { outgoing in
                let isFirst = outgoing.stores.isEmpty
                outgoing.stores.formUnion(stores)
                return isFirst
            }
            if isFirst { wake() }
        }

        private func wake() {
            var byte: UInt8 = 0
            _ = Essentials.write(pipe.write, &byte, 1)
        }

        private func open() throws(PostgreSQLError) {
            let opened = try engine.storage.connect(as: "notifications")
            if !engine.storage.isPooled {
                try opened.connection.script(
                    """
                    \(Database.planning); \
                    LISTEN \(Self.channel); LISTEN \(DatabaseSchema.devicesChannel)
                    """, timeout: Database.timeout)
            }
            connection = opened.connection
            engine.recordConnection(generation: opened.generation)
            try renewHeartbeat()
            try notify("hello")
            engine.notifyDevices(ofAccount: nil)
            try sweep()
        }

        private func run() {
            var backoff = Duration.zero
            while !outgoing.withLock({ $0.isStopping }) {
                do throws(PostgreSQLError) {
                    if connection?.isOpen != true {
                        do throws(PostgreSQLError) { try open() } catch {
                            connection?.close()
                            throw error
                        }
                    }
                    try runOnce()
                    backoff = .zero
                } catch {
                    engine.recordFailure(error, on: connection)
                    // A new connection may need space too.
                    if error.kind != .diskFull { connection?.close() }
                    backoff = min(max(backoff * 2, .milliseconds(50)), .seconds(1))
                    var slot = pollfd(fd: pipe.read, events: Int16(POLLIN), revents: 0)
                    _ = poll(&slot, 1, Int32(backoff / .milliseconds(1)))
                }
            }
            if let connection, connection.isOpen {
                // Others forget the node after half a minute.
                _ = try? connection.execute(Self.leave.with(engine.node), timeout: .seconds(1))
            }
            connection?.close()
        }

        /// Waits for a notification, something to send, or the next heartbeat or sweep.
        private func runOnce() throws(PostgreSQLError) {
            guard let connection else { return }
            let isHeld = outgoing.withLock { !$0.stores.isEmpty }
            let next = min(nextHeartbeat, nextSweep, isHeld ? lastNotification + Self.pause : nextSweep)
            let received = try connection.waitForNotifications(
                timeout: max(.zero, ContinuousClock.now.duration(to: next)), wakeDescriptor: pipe.read)
            var buffer = [UInt8](repeating: 0, count: 64)
            while read(pipe.read, &buffer, buffer.count) > 0 {}
            try receive(received)
            let now = ContinuousClock.now
            if now >= lastNotification + Self.pause || !engine.isBusy { try notifyOfChanges() }
            if now >= nextHeartbeat { try renewHeartbeat() }
            if now >= nextSweep { try sweep() }
        }

        private func notifyOfChanges() throws(PostgreSQLError) {
            let stores = outgoing.withLock { outgoing in
                defer { outgoing.stores = [] }
                return outgoing.stores
            }
            guard !stores.isEmpty else { return }
            lastNotification = .now
            do throws(PostgreSQLError) { try notify(Self.payload(of: stores)) } catch {
                outgoing.withLock { $0.stores.formUnion(stores) }
                wake()
                throw error
            }
        }

        static func payload(of stores: Set<StoreID>) -> String {
            var text = ""
            for store in stores {
                if !text.isEmpty { text += " " }
                text += "\(store.account)/\(store.name)"
                if text.utf8.count > payloadByteCount - 20 { return "*" }
            }
            return text
        }

        private func receive(_ notifications: [PostgreSQLNotification]) throws(PostgreSQLError) {
            var changed: Set<StoreID> = []
            var isSweepDue = false
            for notification in notifications {
                guard notification.channel == Self.channel else {
                    engine.notifyDevices(ofAccount: notification.payload)
                    continue
                }
                let words = notification.payload.split(separator: " ")
                guard words.first.map({ $0 != node }) == true else { continue }
                hasOthers.store(true, ordering: .relaxed)
                for word in words.dropFirst() {
                    if word == "*" { isSweepDue = true }
                    let parts = word.split(separator: "/")
                    guard parts.count == 2 else { continue }
                    changed.insert(StoreID(account: String(parts[0]), name: String(parts[1])))
                }
            }
            readChanges(of: changed)
            if isSweepDue { try sweep() }
        }

        private func readChanges(of stores: some Sequence<StoreID>) {
            guard let connection else { return }
            let taken = engine.takeChanged(of: stores)
            guard !taken.isEmpty else { return }
            var group = DatabaseGroup(taken, engine, connection)
            group.run()
        }

        private func notify(_ text: String) throws(PostgreSQLError) {
            try connection?.execute(Self.notification(text, from: node), timeout: Database.timeout)
        }

        /// - Parameter node: in hexadecimal digits; 0 for a command.
        static func notification(_ text: String, from node: String) -> PostgreSQLExecution {
            notify.with(channel, "\(node) \(text)")
        }

        /// No notification has to survive the server.
        private static let notify = PostgreSQLStatement(
            "notify", "SELECT pg_notify($1, $2), set_config('synchronous_commit', 'off', true)", [.text, .text])

        // MARK: - Sweeps

        /// Stores that one statement compares.
        private static let sweepCount = 8_192

        private func sweep() throws(PostgreSQLError) {
            let isPooled = engine.storage.isPooled
            nextSweep = .now + (isPooled ? engine.options.pollInterval : engine.options.sweepInterval)
            let watched = engine.withState { state in
                state.cache.watched.map { (id: $0.id, version: $0.row?.version ?? -1) }
            }
            for start in stride(from: 0, to: watched.count, by: Self.sweepCount) {
                let part = watched[start..<min(start + Self.sweepCount, watched.count)]
                var parameters = PostgreSQLParameters()
                parameters.append(array: part.lazy.map(\.id.account))
                parameters.append(array: part.lazy.map(\.id.name))
                parameters.append(array: part.lazy.map(\.version))
                let rows = try connection?.execute(DatabaseStatements.sweep, parameters, timeout: Database.timeout)
                guard let rows else { return }
                readChanges(
                    of: (0..<rows.count).compactMap { row in
                        rows.int64(row, 0).map { part[start + Int($0) - 1].id }
                    })
            }
        }

        // MARK: - Heartbeats

        /// Renews the row of this node and looks for others.
        private func renewHeartbeat() throws(PostgreSQLError) {
            nextHeartbeat = .now + Self.heartbeat
            let renewal = Self.renewal.with(
                engine.node, ProcessInfo.processInfo.hostName, engine.options.url, ProgramVersion.text, engine.started)
            let rows = try connection?.execute(renewal, timeout: Database.timeout)
            guard let rows, rows.count == 1 else { return }
            engine.notifyDevices(version: rows.int64(0, 0) ?? 0)
            try recordNodes(lag: rows.int64(0, 2))
            if rows.bool(0, 1) != true {
                // Another server, or one whose data has moved: the next connection settles it.
                connection?.close()
                return
            }
            engine.recordSuccess(ofCommit: true)
        }

        /// Waits for standbys as the commit of a group does, to show whether that succeeds.
        private static let renewal = PostgreSQLStatement(
            "heartbeat",
            """
            WITH own AS (
                INSERT INTO ubiquity.node (id, name, url, version, started, seen)
                VALUES ($1, $2, $3, $4, $5, now())
                ON CONFLICT (id) DO UPDATE SET seen = now()
            ), forgotten AS (
                DELETE FROM ubiquity.answer WHERE (node, connection, place) IN (
                    SELECT node, connection, place FROM ubiquity.answer
                    WHERE written < now() - interval '10 minutes' FOR UPDATE SKIP LOCKED
                )
            )
            SELECT devices_version,
                timeline = ubiquity.timeline() AND NOT EXISTS (SELECT FROM ubiquity.migration), (
                SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::bigint
                FROM pg_stat_replication
            ), set_config('synchronous_commit', 'on', true) FROM ubiquity.meta
            """, [.int64, .text, .text, .text, .int64])

        private func recordNodes(lag: Int64?) throws(PostgreSQLError) {
            guard let rows = try connection?.execute(Self.nodes, timeout: Database.timeout) else { return }
            let nodes = (0..<rows.count).map { row in
                ServerReport.Database.Node(
                    name: rows.text(row, 1) ?? "", url: rows.text(row, 2) ?? "", version: rows.text(row, 3) ?? "",
                    isOwn: rows.int64(row, 0) == engine.node, secondsAgo: Double(rows.int64(row, 4) ?? 0) / 1_000)
            }
            hasOthers.store(nodes.contains { !$0.isOwn }, ordering: .relaxed)
            let endpoint = connection?.endpoint ?? ""
            engine.withState { state in
                state.nodes = nodes
                state.endpoint = endpoint
                state.standbyLagByteCount = lag.map { Int($0) }
            }
        }

        /// Milliseconds, as binary results of other types have other forms.
        private static let nodes = PostgreSQLStatement(
            "nodes",
            """
            SELECT id, name, url, version, (extract(epoch FROM now() - seen) * 1000)::bigint
            FROM ubiquity.node WHERE seen > now() - interval '30 seconds' ORDER BY started, id
            LIMIT 1000
            """)

        private static let leave = PostgreSQLStatement(
            "leave",
            """
            DELETE FROM ubiquity.node WHERE id = $1
            RETURNING set_config('synchronous_commit', 'off', true)
            """, [.int64])
    }
#endif
