#if PostgreSQL
    import Foundation
    import HTTPTypes
    import KVStoreCore
    import KVStorePostgreSQL
    import ServerTestSupport
    import StoreTestSupport
    import Testing

    /// Real daemons on a real database that fails.
    @Suite(
        "Nodes on a failing database", .timeLimit(.minutes(5)),
        .enabled(if: TemporaryPostgreSQL.missing == nil, "PostgreSQL is not on this machine"))
    struct DatabaseFaultTests {
        private func withNodes(_ address: String, _ body: (DatabaseNodes) async throws -> Void) async throws {
            let nodes = try await DatabaseNodes(address)
            do { try await body(nodes) } catch { Issue.record(error) }
            await nodes.stop()
        }

        @Test("kill -9 of the database loses no acknowledged put, and nodes need no restart")
        func killed() async throws {
            let server = try TemporaryPostgreSQL()
            try await withNodes(try server.makeDatabase()) { nodes in
                let acknowledged = DatabaseNodes.Acknowledged()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for writer in 0..<4 {
                        group.addTask {
                            await nodes.write("k\(writer)", at: writer % 2, acknowledged)
                        }
                    }
                    for _ in 0..<2 {
                        let before = acknowledged.count
                        try await wait { acknowledged.count >= before + 40 }
                        server.kill()
                        try await wait { try await nodes.readiness() == [false, false] }
                        try server.start()
                        try await wait { try await nodes.readiness() == [true, true] }
                    }
                    let before = acknowledged.count
                    try await wait { acknowledged.count >= before + 40 }
                    group.cancelAll()
                }
                for (key, number) in acknowledged.all {
                    for node in 0..<2 {
                        // The last put was canceled, and may have been stored.
                        let found = Int(try await nodes.value(of: key, at: node)) ?? 0
                        #expect(number...number + 1 ~= found, "\(key) at node \(node)")
                    }
                }
            }
        }

        @Test("a put that is found after a restart counts only when a synchronous standby has it")
        func unreplicated() async throws {
            let server = try TemporaryPostgreSQL()
            let address = try server.makeDatabase()
            try await withNodes(address) { nodes in
                try await nodes.put("first", key: "k", at: 0)
                try PostgreSQLConnection(testing: address).requireStandby("*")
                let puts = (0..<2).map { _ in DatabaseNodes.Acknowledged() }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for node in 0..<2 {
                        // The first time, commits wait from now on: reloading the setting would take effect later.
                        server.kill()
                        try server.start()
                        group.addTask {
                            while !Task.isCancelled, puts[node].count == 0 {
                                guard (try? await nodes.put("second", key: "k", at: node)) != nil else { continue }
                                puts[node].record(1, "k")
                            }
                        }
                        let connection = try PostgreSQLConnection(testing: address)
                        try await wait { try connection.groupCount(waitingFor: "SyncRep") > 0 }
                        // Restarted, the server shows the first put.
                        let shown = "SELECT count(*) FROM ubiquity.record WHERE value = 'second'"
                        #expect(connection.number(shown) == Int64(node))
                    }
                    try await wait { try await nodes.readiness() == [false, false] }
                    #expect(puts.map(\.count) == [0, 0])
                    try PostgreSQLConnection(testing: address).requireStandby("")
                    try await wait { puts.map(\.count) == [1, 1] }
                    try await wait { try await nodes.readiness() == [true, true] }
                }
            }
        }

        /// A request whose answer the database has not given when it is killed.
        enum Lost: CaseIterable {
            case committedPut, putThatWaited, committedRemoval
        }

        @Test(
            "what became of a commit without an answer is read, not guessed, after another node's commit",
            arguments: Lost.allCases)
        func lostAnswer(lost: Lost) async throws {
            let server = try TemporaryPostgreSQL()
            let address = try server.makeDatabase()
            try await withNodes(address) { nodes in
                try await nodes.put("first", key: "k", at: 0)
                if lost != .putThatWaited {
                    try PostgreSQLConnection(testing: address).requireStandby("*")
                    server.kill()
                    try server.start()
                    try await wait { try await nodes.readiness()[1] == false }
                }
                let locker = try PostgreSQLConnection(testing: address)
                if lost == .putThatWaited {
                    try locker.run("BEGIN; SELECT FROM ubiquity.store FOR UPDATE")
                }
                let client = TestClient(port: nodes.nodes[0].port)
                async let answer =
                    lost == .committedRemoval
                    ? nodes.change(.delete, "s", nil, client)
                    : nodes.change(.put, "s/keys/k", "second", client)
                let event = lost == .putThatWaited ? "transactionid" : "SyncRep"
                let monitor = try PostgreSQLConnection(testing: address)
                try await wait { try monitor.groupCount(waitingFor: event) == 1 }
                nodes.nodes[0].suspend()
                defer { nodes.nodes[0].resume() }
                server.kill()
                try server.start()
                try PostgreSQLConnection(testing: address).requireStandby("")
                var third: DatabaseNodes.Change?
                try await wait {
                    third = try? await nodes.change(.put, "s/keys/k", "third", nodes.clients[1])
                    return third != nil
                }
                nodes.nodes[0].resume()
                let own = try await answer
                await client.close()
                let other = try #require(third)
                switch lost {
                case .committedPut: #expect(own?.seq == other.seq - 1)
                case .putThatWaited: #expect(own?.seq == other.seq + 1)
                case .committedRemoval: #expect(own == nil)
                }
                #expect(own?.stamp != other.stamp)
                let last = lost == .putThatWaited ? "second" : "third"
                for node in 0..<2 { #expect(try await nodes.value(of: "k", at: node) == last) }
            }
        }

        @Test("a stream that moves from node to node misses and repeats nothing")
        func moved() async throws {
            let address = try TemporaryPostgreSQL.shared().makeDatabase()
            try await withNodes(address) { nodes in
                try await nodes.put("first", key: "k0", at: 0)
                let count = 120
                async let written: Void = {
                    for index in 1..<count {
                        try await nodes.put("v", key: "k\(index)", at: index % 2)
                    }
                }()
                var cursor: UInt64 = 0
                var move = 0
                while cursor < count {
                    var stream = try await nodes.stream(at: move % 2, after: cursor)
                    let end = min(cursor + 17, UInt64(count))
                    while cursor < end, let event = await stream.next() {
                        #expect(event.name == "opened" || event.name == "change", "\(event)")
                        guard let change = event.change else { continue }
                        #expect(change.sequence == cursor + 1)
                        cursor = change.sequence
                    }
                    await stream.connection.close()
                    move += 1
                }
                try await written
                #expect(cursor == count)
            }
        }

        @Test("while commits of a node wait, its streams have what another node commits")
        func waitingCommits() async throws {
            let address = try TemporaryPostgreSQL.shared().makeDatabase()
            let database = try PostgreSQLConnection(testing: address)
            try await withNodes(address) { nodes in
                let others = ["t", "u"]
                for store in ["s"] + others { try await nodes.put("", key: "k", in: store, at: 1) }
                var stream = try await nodes.stream(at: 1, after: 0)
                #expect(await stream.received(1))
                try database.begin(timeout: .seconds(60))
                try database.run("SELECT FROM ubiquity.store WHERE name <> 's' FOR UPDATE")
                try await withThrowingTaskGroup(of: Void.self) { group in
                    // One for each connection of the node.
                    let monitor = try PostgreSQLConnection(testing: address)
                    for (index, store) in others.enumerated() {
                        group.addTask {
                            let client = TestClient(port: nodes.nodes[1].port)
                            try await nodes.put("v", key: "k", in: store, client)
                            await client.close()
                        }
                        try await wait {
                            try monitor.groupCount(waitingFor: "transactionid") == index + 1
                        }
                    }
                    try await nodes.put("v", key: "k", at: 0)
                    #expect(await stream.received(2))
                    try database.rollback(timeout: .seconds(60))
                    try await group.waitForAll()
                }
                await stream.connection.close()
            }
        }

        @Test("a node that cannot read devices is not ready, until it can")
        func unreadableDevices() async throws {
            let server = try TemporaryPostgreSQL.shared()
            let address = try server.makeDatabase()
            let name = try #require(address.firstMatch(of: /test_\d+/)?.output)
            let others = try PostgreSQLConnection(testing: server.address(database: "postgres"))
            try await withNodes(address) { nodes in
                try await nodes.put("v", key: "k", at: 0)
                try others.run("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
                try others.run(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE application_name = 'kvsd devices' AND datname = '\(name)'
                    """)
                // A token that is not in memory.
                let stranger = "ubq_" + String(repeating: "a", count: 43)
                #expect(try await nodes.value(of: "k", at: 0, token: stranger).isEmpty)
                #expect(try await nodes.value(of: "k", at: 0) == "v")
                try await wait { try await nodes.readiness()[0] == false }
                try others.run("ALTER DATABASE \(name) ALLOW_CONNECTIONS true")
                try await wait { try await nodes.readiness() == [true, true] }
            }
        }

        @Test("what a lost LISTEN connection has missed, its node finds by itself")
        func lostNotifications() async throws {
            let address = try TemporaryPostgreSQL.shared().makeDatabase()
            try await withNodes(address) { nodes in
                try await nodes.put("first", key: "k", at: 0)
                var stream = try await nodes.stream(at: 1, after: 0)
                for number in 1...12 {
                    try PostgreSQLConnection(testing: address).run(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE application_name = 'kvsd notifications' AND datname = current_database()
                        """)
                    try await nodes.put("\(number)", key: "k", at: 0)
                    // Node 1 has read it before any notification comes.
                    #expect(try await nodes.value(of: "k", at: 1) == "\(number)")
                    #expect(await stream.received(UInt64(number) + 1))
                }
                await stream.connection.close()
            }
        }

        @Test("a node refuses the schema of a newer version and names both")
        func newerSchema() async throws {
            let address = try TemporaryPostgreSQL.shared().makeDatabase()
            try await withNodes(address) { nodes in
                try PostgreSQLConnection(testing: address).run("UPDATE ubiquity.meta SET schema_version = 99")
                let refused = try await DaemonProcess.run([
                    "serve", "--data", nodes.nodes[0].dataPath + "-new", "--listen", "127.0.0.1:0",
                    "--set", "database=\(address)",
                ])
                #expect(refused.status == 78)
                #expect(refused.errors.contains("the schema has version 99, this kvsd knows version"))
                // Those that run go on.
                try await nodes.put("v", key: "k", at: 0)
            }
        }

        @Test(
            "nodes work behind PgBouncer in transaction mode",
            .enabled(if: PgBouncer.missing == nil, "PgBouncer is not on this machine"))
        func pooled() async throws {
            let server = try TemporaryPostgreSQL.shared()
            let pooler = try PgBouncer(before: server)
            let address = try server.makeDatabase()
            try await withNodes(pooler.address(of: address)) { nodes in
                try await nodes.put("first", key: "k", at: 0)
                var stream = try await nodes.stream(at: 1, after: 0)
                for number in 1...20 {
                    try await nodes.put("\(number)", key: "k", at: number % 2)
                    #expect(try await nodes.value(of: "k", at: 1) == "\(number)")
                    #expect(await stream.received(UInt64(number) + 1))
                }
                await stream.connection.close()
            }
        }
    }

    extension PostgreSQLConnection {
        /// - Parameter names: of the standbys that a commit waits for.
        fileprivate func requireStandby(_ names: String) throws {
            try run("ALTER SYSTEM SET synchronous_standby_names = '\(names)'")
            try run("SELECT pg_reload_conf()")
        }

        /// Connections of nodes.
        fileprivate func groupCount(waitingFor event: String) throws -> Int64 {
            try #require(
                number(
                    """
                    SELECT count(*) FROM pg_stat_activity WHERE application_name = 'kvsd group'
                    AND datname = current_database() AND wait_event = '\(event)'
                    """))
        }
    }

    extension EventReader {
        /// Reads up to a change with this sequence number; false for a later one, and at the end.
        fileprivate mutating func received(_ sequence: UInt64) async -> Bool {
            var found: UInt64 = 0
            while found < sequence, let event = await next() {
                found = event.change?.sequence ?? found
            }
            return found == sequence
        }
    }
#endif
