#if PostgreSQL
    import Dispatch
    import Essentials
    import KVStoreCore
    import KVStoreLedger
    import KVStoreWire
    import Logging
    import NIOCore
    import ServerTestSupport
    import StoreTestSupport
    import Testing

    @testable import KVStorePostgreSQL
    @testable import KVStoreServer

    /// What one request of a group does to the others.
    @Suite(
        "Groups of requests", .timeLimit(.minutes(2)),
        .enabled(if: TemporaryPostgreSQL.missing == nil, "PostgreSQL is not on this machine"))
    struct GroupTests {
        private let address = try! TemporaryPostgreSQL.shared().makeDatabase()

        private func withEngine(_ body: (DatabaseEngine, PostgreSQLConnection) async throws -> Void) async throws {
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let engine = try DatabaseEngine(Database(address), logger: logger)
            let connection = try PostgreSQLConnection(address, applicationName: "tests", timeout: DeviceNode.limit)
            do { try await body(engine, connection) } catch { Issue.record(error) }
            await engine.close()
        }

        private func repetitions(_ engine: DatabaseEngine) -> Int? {
            engine.database?.repetitionCount
        }

        @Test("an account at a limit is refused without a repetition or an error, and its neighbour has no part in it")
        func limits() async throws {
            try await withEngine { engine, connection in
                try connection.run(
                    """
                    INSERT INTO ubiquity.account (name, created, byte_limit, store_limit)
                    VALUES ('small', 0, 2000, 3), ('large', 0, NULL, NULL)
                    """)
                let large = (0..<4).map { StoreID(account: "large", name: "s\($0)") }
                let small = (0..<3).map { StoreID(account: "small", name: "s\($0)") }
                for store in large + small {
                    #expect(await engine.put("", in: store).problem == nil)
                }
                for round in 0..<5 {
                    var answers = await engine.putAll(
                        large.map { ($0, "k\(round)") }
                            + small.map { ($0, String(repeating: "\(round)", count: 3_000)) }
                            // One that fits, beside one that does not.
                            + [(small[0], "k\(round)")]
                            + [(StoreID(account: "small", name: "more"), "v")])
                    let unlimited = answers.prefix(large.count)
                    #expect(unlimited.allSatisfy { $0.problem == nil })
                    answers.removeFirst(large.count)
                    #expect(
                        answers.map { $0.problem?.code } == [
                            "account-full", "account-full", "account-full", nil, "too-many-stores",
                        ])
                    #expect(answers[0].problem?.limit == 2_000)
                }
                // Only what shares a store with a refused request is sent again.
                #expect(try #require(repetitions(engine)) <= 5)
                #expect(connection.number("SELECT max(memory) FROM ubiquity.store") ?? 0 < 2_000)
            }
            // All sessions have ended, and reported.
            let connection = try PostgreSQLConnection(address, applicationName: "tests", timeout: DeviceNode.limit)
            try await wait {
                connection.number(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'kvsd group' "
                        + "AND datname = current_database()") == 0
            }
            #expect(
                connection.number("SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()")
                    == 0)
        }

        @Test("a removed store that would be one too many stays removed, and the others are changed")
        func revival() async throws {
            try await withEngine { engine, connection in
                let stores = ["a", "b", "c"].map { StoreID(account: "default", name: $0) }
                for store in stores { _ = await engine.put("1", in: store) }
                #expect(await engine.remove(stores[0]).problem == nil)
                try connection.run("UPDATE ubiquity.account SET store_limit = 2")
                let answers = await engine.putAll(stores.map { ($0, "2") })
                #expect(answers.map { $0.problem?.code } == ["too-many-stores", nil, nil])
                #expect(repetitions(engine) == 0)
            }
        }

        @Test("two nodes never take an account beyond its limit, and count what it uses", arguments: 1...3)
        func race(seed: UInt64) async throws {
            try await withEngine { first, connection in
                let second = try DatabaseEngine(Database(address), logger: first.logger)
                try connection.run("UPDATE ubiquity.account SET byte_limit = 20000")
                var random = SplitMix64(seed: seed)
                for _ in 0..<25 {
                    let requests = (0..<24).map { _ in
                        (
                            StoreID(account: "default", name: "s\(Int.random(in: 0..<4, using: &random))"),
                            String(repeating: "v", count: .random(in: 0..<1_500, using: &random)),
                            "k\(Int.random(in: 0..<6, using: &random))"
                        )
                    }
                    async let one = first.putAll(requests.prefix(12).map { ($0.0, $0.1) }, key: "a")
                    async let other = second.putAll(requests.suffix(12).map { ($0.0, $0.1) }, key: requests[0].2)
                    let codes = Set(await (one + other).compactMap { $0.problem?.code })
                    #expect(codes.isSubset(of: ["account-full"]))
                    #expect(connection.number("SELECT sum(memory)::bigint FROM ubiquity.store") ?? 0 <= 20_000)
                }
                await second.close()
                let database = Database(address)
                let snapshot = try DatabaseSnapshot(database)
                try snapshot.readStores { store, damage in #expect(damage.isEmpty, "\(store.id)") }
            }
        }

        @Test("a request that the database refuses fails alone, and others are sent again at most once")
        func failing() async throws {
            try await withEngine { engine, connection in
                let stores = (0..<6).map { StoreID(account: "default", name: "s\($0)") }
                for store in stores { _ = await engine.put("", in: store) }
                try connection.failChanges(of: "record", where: "new.key = 'bad'", state: "P0001")
                let first = await engine.putAll(stores.map { ($0, "1") } + [(stores[0], "bad")])
                #expect(first.prefix(6).allSatisfy { $0.problem == nil })
                #expect(first[6].problem == .databaseFailed)
                // The group, and the store whose two requests are sent one by one.
                #expect(repetitions(engine) == 2)
                for round in 2..<5 {
                    let next = await engine.putAll([(stores[0], "bad")] + stores.dropFirst().map { ($0, "\(round)") })
                    #expect(next.map { $0.problem?.code } == ["database-failed"] + Array(repeating: nil, count: 5))
                }
                #expect(repetitions(engine) == 2)
            }
        }

        @Test("stores that somebody keeps locked, more than there are connections, keep no others waiting")
        func locked() async throws {
            try await withEngine { engine, connection in
                let names = ["a", "b", "c", "d", "e", "f", "g", "h"]
                let stores = names.map { StoreID(account: "default", name: $0) }
                for store in stores { _ = await engine.put("1", in: store) }
                try connection.run("BEGIN; SELECT FROM ubiquity.store WHERE name < 'd' FOR UPDATE")
                async let waiting = engine.putAll(stores.prefix(3).map { ($0, "2") })
                let others = await engine.putAll(stores.dropFirst(3).map { ($0, "2") })
                #expect(others.allSatisfy { $0.problem == nil })
                try connection.run("ROLLBACK")
                #expect(await waiting.allSatisfy { $0.problem == nil })
            }
        }

        @Test("what a node has locked that falls silent is free before a request of another node expires")
        func silent() async throws {
            try await withEngine { engine, _ in
                let store = StoreID(account: "default", name: "s")
                _ = await engine.put("1", in: store)
                let (began, beginning) = AsyncStream<Void>.makeStream()
                let answered = DispatchSemaphore(value: 0)
                let node = Task.detached { [address] in
                    try Database(address).transaction { connection throws(ServerError) in
                        try connection.run([
                            PostgreSQLExecution(PostgreSQLStatement("", "SELECT FROM ubiquity.store FOR UPDATE"))
                        ])
                        beginning.finish()
                        answered.wait()
                    }
                }
                for await _ in began {}
                #expect(await engine.put("2", in: store).problem == nil)
                answered.signal()
                await #expect(throws: ServerError.self) { try await node.value }
            }
        }

        @Test("on a full disk reads go on, also those that wait together with writes")
        func fullDisk() async throws {
            try await withEngine { engine, connection in
                let stores = (0..<4).map { StoreID(account: "default", name: "s\($0)") }
                for store in stores { _ = await engine.put("1", in: store) }
                try connection.failChanges(of: "store", where: "true", state: "53100")
                let missing = StoreID(account: "default", name: "missing")
                async let reads = engine.getAll(stores + [missing])
                let writes = await engine.putAll((stores + [missing]).map { ($0, "2") })
                #expect(writes.allSatisfy { $0.problem == .databaseFull })
                #expect(await reads == ["1", "1", "1", "1", nil])
                try engine.checkReadiness()
                // A node that starts now has read nothing yet.
                try connection.failChanges(of: "node", where: "true", state: "53100")
                let second = try DatabaseEngine(Database(address), logger: engine.logger)
                #expect(await second.getAll(stores) == ["1", "1", "1", "1"])
                try second.checkReadiness()
                await second.close()
                try connection.run("DROP TRIGGER fault ON ubiquity.store")
                #expect(await engine.putAll(stores.map { ($0, "3") }).allSatisfy { $0.problem == nil })
            }
        }

        @Test("a node whose data has moved to a directory says so at once, until it has moved back")
        func moved() async throws {
            try await withEngine { engine, connection in
                let store = StoreID(account: "default", name: "s")
                _ = await engine.put("1", in: store)
                try connection.run(
                    """
                    INSERT INTO ubiquity.migration (instance, is_export) VALUES (1, true);
                    UPDATE ubiquity.meta SET generation = generation + 1
                    """)
                let refused = await engine.put("2", in: store)
                #expect(refused.problem == .databaseMoved, "\(refused)")
                #expect(throws: Problem.databaseMoved) { try engine.checkReadiness() }
                try connection.run("DELETE FROM ubiquity.migration")
                try await wait { await engine.put("3", in: store).problem == nil }
            }
        }

        @Test("a node that connects while the data is being moved does not use it")
        func movedMeanwhile() async throws {
            let database = Database(address)
            try database.prepare()
            let connection = try PostgreSQLConnection(address, applicationName: "tests", timeout: DeviceNode.limit)
            // Another timeline, so that a node changes the row that the move has locked.
            try connection.run("UPDATE ubiquity.meta SET timeline = timeline + 1")
            try connection.run(
                """
                BEGIN;
                INSERT INTO ubiquity.migration (instance, is_export) VALUES (1, true);
                UPDATE ubiquity.meta SET generation = generation + 1
                """)
            let connecting = Task.detached { () -> PostgreSQLError? in
                do throws(PostgreSQLError) {
                    _ = try database.connect(as: "test")
                    return nil
                } catch {
                    return error
                }
            }
            while connection.number("SELECT count(*) FROM pg_locks WHERE NOT granted") == 0 {
                try Task.checkCancellation()
            }
            try connection.run("COMMIT")
            #expect(await connecting.value?.sqlState == DatabaseSchema.movedState)
        }

        @Test("a schema of version 1 is migrated under its data, and what its nodes call stays")
        func migration() async throws {
            let connection = try PostgreSQLConnection(address, applicationName: "tests", timeout: DeviceNode.limit)
            try connection.run("CREATE SCHEMA ubiquity")
            try connection.run(DatabaseSchema.migrations[0])
            try connection.run(
                """
                CREATE FUNCTION ubiquity.commit() RETURNS integer[] LANGUAGE sql AS $$ SELECT '{}'::integer[] $$;
                INSERT INTO ubiquity.meta (schema_version, instance, generation) VALUES (1, 1, 1);
                SELECT FROM ubiquity.create_stores('{default}', '{s}', '{"\\\\x"}', 1024);
                DELETE FROM ubiquity.store
                """)
            try await withEngine { engine, _ in
                let store = StoreID(account: "default", name: "s")
                #expect(await engine.put("1", in: store).problem == nil)
                let former = "SELECT count(*) FROM pg_proc WHERE proname IN ('commit', 'create_stores')"
                #expect(connection.number(former) == 2)
            }
        }
    }

    extension PostgreSQLConnection {
        fileprivate func run(_ sql: String) throws { try script(sql, timeout: DeviceNode.limit) }

        fileprivate func number(_ query: String) -> Int64? {
            let rows = try? execute(PostgreSQLStatement("", query), timeout: DeviceNode.limit)
            return rows?.int64(0, 0)
        }

        /// Makes changes of a table fail with a code of the server.
        fileprivate func failChanges(of table: String, where condition: String, state: String)
            throws
        {
            try run(
                """
                CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN RAISE EXCEPTION 'as the test wants it' USING ERRCODE = '\(state)'; END $$;
                CREATE TRIGGER fault BEFORE INSERT OR UPDATE ON ubiquity.\(table)
                FOR EACH ROW WHEN (\(condition)) EXECUTE FUNCTION fail()
                """)
        }
    }

    extension Result where Failure == Problem {
        fileprivate var problem: Problem? {
            if case .failure(let problem) = self { problem } else { nil }
        }
    }

    extension DatabaseEngine {
        fileprivate func put(_ value: String, in store: StoreID) async -> Result<SequencedRecord, Problem> {
            await putAll([(store, value)])[0]
        }

        /// Puts values in one tick, so that they are a group; `bad` and long ones to keys of their own.
        fileprivate func putAll(
            _ puts: [(store: StoreID, value: String)], key: String = "k"
        ) async -> [Result<SequencedRecord, Problem>] {
            await gather(puts) { put, watchers, complete in
                let own = put.value == "bad" ? "bad" : put.value.count > 1_000 ? "long" : key
                self.write(
                    .value(Data(put.value.utf8)), forKey: StoreKey(own), store: put.store, if: .none, by: nil,
                    replica: Samples.replica, on: watchers, complete)
            }
        }

        fileprivate func getAll(_ stores: [StoreID]) async -> [String?] {
            let records = await gather(stores) { store, watchers, complete in
                self.value(of: StoreKey("k"), in: store, on: watchers, complete)
            }
            return records.map { result in
                guard case .success(let entry?) = result,
                    case .value(let data) = entry.record.content
                else { return result.problem?.code }
                return String(decoding: data, as: UTF8.self)
            }
        }

        fileprivate func remove(_ store: StoreID) async -> Result<Void, Problem> {
            await gather([store]) { store, watchers, complete in
                self.remove(store, on: watchers, complete)
            }[0]
        }

        private func gather<Request: Sendable, Value: Sendable>(
            _ requests: [Request],
            _ send:
                @escaping @Sendable (Request, WatcherRegistry, @escaping (Result<Value, Problem>) -> Void) -> Void
        ) async -> [Result<Value, Problem>] {
            let watchers = loops[0]
            return await withCheckedContinuation { continuation in
                watchers.loop.execute {
                    // Used on the event loop only.
                    nonisolated(unsafe) var answers: [Int: Result<Value, Problem>] = [:]
                    for (index, request) in requests.enumerated() {
                        send(request, watchers) { answer in
                            answers[index] = answer
                            guard answers.count == requests.count else { return }
                            continuation.resume(returning: requests.indices.compactMap { answers[$0] })
                        }
                    }
                }
            }
        }
    }
#endif
