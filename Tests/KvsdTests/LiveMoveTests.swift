#if PostgreSQL
    import StoreTestSupport
    import Foundation
    import HTTPTypes
    import KVStoreCore
    import KVStoreLedger
    import KVStoreServer
    import KVStoreWire
    import NIOCore
    import KVStorePostgreSQL
    import ServerTestSupport
    import Synchronization
    import Testing

    /// `kvsd migrate` beside real daemons, with clients that write all the time.
    @Suite(
        "Moves beside running daemons", .timeLimit(.minutes(5)),
        .enabled(if: TemporaryPostgreSQL.missing == nil, "PostgreSQL is not on this machine"))
    struct LiveMoveTests {
        private let directory = try! TemporaryDirectory()
        private let address = try! TemporaryPostgreSQL.shared().makeDatabase()
        private var data: String { directory.file("data") }
        private var moveFile: String { data + "/moved.json" }

        private func migrate(
            _ option: String, started: (Int32) -> Void = { _ in }
        ) async throws -> (status: Int32, output: String, errors: String) {
            try await DaemonProcess.run(["migrate", option, address, "--data", data], started: started)
        }

        /// Starts on a log; with the database in its file, where it starts on that when the log has moved.
        private func daemon() async throws -> DaemonProcess {
            let daemon = try await DaemonProcess(dataPath: data, arguments: ["--requests-per-second", "100000"])
            let config = try JSONEncoder().encode(["database": address])
            try config.write(to: URL(filePath: data + "/config.json"))
            return daemon
        }

        private func status() throws -> DaemonStatus {
            let file = try Data(contentsOf: URL(filePath: data + "/daemon.json"))
            return try JSONDecoder().decode(DaemonStatus.self, from: file)
        }

        /// A client of whichever daemon serves the directory.
        private func client() throws -> TestClient { TestClient(port: try status().port) }

        private func sync(
            _ store: String, _ token: String, since cursor: Cursor?
        ) async throws -> SyncResponse {
            let client = try client()
            let answer = try await client.sync(token, Samples.request(since: cursor), store: store)
            await client.close()
            return answer
        }

        /// Puts ascending numbers until the task is cancelled, whatever happens meanwhile.
        private func write(
            _ key: String, _ token: String, _ acknowledged: DatabaseNodes.Acknowledged
        ) async {
            var (number, open) = (0, TestClient?.none)
            while !Task.isCancelled {
                number += 1
                do {
                    let client = try open ?? client()
                    open = client
                    let response = try await client.execute(
                        uri: "/v1/stores/w\(number % 5)/keys/\(key)", method: .put,
                        headers: [
                            .authorization: "Bearer \(token)",
                            .contentType: "application/octet-stream",
                        ], body: ByteBuffer(string: "\(number)"))
                    if response.status == .ok {
                        acknowledged.note(number, "w\(number % 5)/keys/\(key)")
                    }
                } catch {
                    await open?.close()
                    open = nil
                    await Task.yield()
                }
            }
            await open?.close()
        }

        private func withWriters(
            _ token: String, _ body: () async throws -> Void
        ) async throws -> [String: Int] {
            let acknowledged = DatabaseNodes.Acknowledged()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<3 {
                    group.addTask { await write("k\(writer)", token, acknowledged) }
                }
                try await wait { acknowledged.count > 50 }
                try await body()
                let before = acknowledged.count
                try await wait { acknowledged.count > before + 50 }
                group.cancelAll()
            }
            return acknowledged.all
        }

        private func check(
            _ acknowledged: [String: Int], _ token: String
        ) async throws {
            let client = try client()
            for (key, number) in acknowledged {
                let response = try await client.execute(
                    uri: "/v1/stores/\(key)", method: .get,
                    headers: [
                        .authorization: "Bearer \(token)", .accept: "application/octet-stream",
                    ])
                // Puts without an answer may have been stored.
                #expect(Int(response.text) ?? 0 >= number, "\(key): \(response.text)")
            }
            await client.close()
        }

        @Test("clients lose nothing in a move to a database, and replicas go on where they were")
        func toDatabase() async throws {
            let token = try await DaemonProcess.addDevice("d", dataPath: data)
            try DataDirectory(data).fill(stores: 200, keys: 3)
            let daemon = try await daemon()
            let still = try await sync("s7", token, since: nil).cursor
            var busy: Cursor?
            let acknowledged = try await withWriters(token) {
                busy = try await sync("w1", token, since: nil).cursor
                let result = try await migrate("--to")
                try #require(result.status == 0, "\(result)")
                #expect(result.output.contains("waited ") && result.errors.contains("runs on"), "\(result)")
                #expect(try status().processID == daemon.identifier)
            }
            #expect(hasMoved)
            try await check(acknowledged, token)
            let quiet = try await sync("s7", token, since: still)
            #expect(!quiet.isInitial && quiet.changes.isEmpty)
            let more = try await sync("w1", token, since: busy)
            #expect(!more.isInitial && !more.changes.isEmpty)
            #expect(more.changes.allSatisfy { $0.sequence > busy?.sequence ?? 0 })
            #expect(await daemon.stop() == 0)
        }

        @Test("a move that is killed again and again loses nothing, and ends when it is run again")
        func kill() async throws {
            let token = try await DaemonProcess.addDevice("d", dataPath: data)
            try DataDirectory(data).fill(stores: 900, keys: 3)
            var daemon = try await daemon()
            let blocker = try PostgreSQLConnection(testing: address)
            let acknowledged = try await withWriters(token) {
                // While it copies.
                try await interrupt(SIGKILL) {
                    try await wait {
                        blocker.number("SELECT count(*) FROM ubiquity.store") ?? 0 > 0
                    }
                }
                // By Ctrl-C.
                try blocker.run("BEGIN; LOCK TABLE ubiquity.record IN SHARE MODE")
                let result = try await interrupt(SIGINT) {
                    try await wait {
                        blocker.number("SELECT count(*) FROM pg_locks WHERE NOT granted") ?? 0 > 0
                    }
                }
                try blocker.run("ROLLBACK")
                #expect(result.status == 75 && result.errors.contains("nothing has moved"))
                #expect(try status().processID == daemon.identifier)
            }
            // In the last step, before and after the directory says that its data has moved.
            for file in ["move.lock", "moved.json"] where !hasMoved {
                try blocker.run(Self.pause)
                try await interrupt(SIGKILL) {
                    try await wait { FileManager.default.fileExists(atPath: data + "/" + file) }
                }
                try blocker.run(Self.end)
                if !hasMoved { try await wait { await isServed } }
            }
            #expect(await daemon.stop(signals: []) == 75)
            let result = try await migrate("--to")
            try #require(result.status == 0, "\(result)")
            daemon = try await DaemonProcess(dataPath: data)
            try await check(acknowledged, token)
            #expect(await daemon.stop() == 0)
        }

        private var hasMoved: Bool { FileManager.default.fileExists(atPath: moveFile) }

        private var isServed: Bool {
            get async {
                guard let client = try? client() else { return false }
                let response = try? await client.execute(uri: "/readyz", method: .get)
                await client.close()
                return response?.status == .ok
            }
        }

        /// Keeps the command from ending the move.
        private static let pause = """
            CREATE OR REPLACE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_sleep(60); RETURN NULL; END';
            CREATE TRIGGER pause BEFORE DELETE ON ubiquity.migration EXECUTE FUNCTION pause()
            """
        private static let end = """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'kvsd migration' AND datname = current_database();
            DROP TRIGGER pause ON ubiquity.migration
            """

        /// Ends the command by a signal when `condition` has returned.
        @discardableResult
        private func interrupt(
            _ signal: Int32, when condition: () async throws -> Void
        ) async throws -> (status: Int32, output: String, errors: String) {
            let identifier = Atomic<Int32>(0)
            async let result = migrate("--to") { identifier.store($0, ordering: .relaxed) }
            try await wait { identifier.load(ordering: .relaxed) != 0 }
            try await condition()
            Foundation.kill(identifier.load(ordering: .relaxed), signal)
            return try await result
        }

        @Test("clients of two nodes lose nothing in a move from their database")
        func fromDatabase() async throws {
            let nodes = try await DatabaseNodes(address)
            let acknowledged = DatabaseNodes.Acknowledged()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        await nodes.write("k\(writer)", at: writer % 2, acknowledged)
                    }
                }
                try await wait { acknowledged.count > 100 }
                // Killed while it waits for the last commits.
                let blocker = try PostgreSQLConnection(testing: address)
                try blocker.run("BEGIN; SELECT FROM ubiquity.migration")
                let migration = Task { try await migrate("--from") }
                try await wait {
                    blocker.number(
                        """
                        SELECT count(*) FROM pg_locks
                        WHERE mode = 'AccessExclusiveLock' AND NOT granted
                        """) ?? 0 > 0
                }
                migration.cancel()
                _ = try await migration.value
                try blocker.run("ROLLBACK")
                let before = acknowledged.count
                try await wait { acknowledged.count > before + 100 }

                let result = try await migrate("--from")
                try #require(result.status == 0, "\(result)")
                #expect(result.output.contains("waited 0.") && result.errors.contains("refuses"))
                try await wait { try await nodes.readiness() == [false, false] }
                group.cancelAll()
            }
            await nodes.stop()
            let daemon = try await DaemonProcess(dataPath: data)
            try await check(
                Dictionary(uniqueKeysWithValues: acknowledged.all.map { ("s/keys/\($0.key)", $0.value) }),
                nodes.token)
            #expect(await daemon.stop() == 0)
        }
    }
#endif
