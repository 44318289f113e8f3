#if PostgreSQL
    import Essentials
    import ServerTestSupport
    import Testing

    @testable import KVStorePostgreSQL

    @Suite(
        "PostgreSQL connections", .enabled(if: TemporaryPostgreSQL.missing == nil, "PostgreSQL is not on this machine"))
    struct ConnectionTests {
        private let address: String
        private let connection: PostgreSQLConnection
        private static let limit = Duration.seconds(60)
        private static let one = PostgreSQLStatement("one", "SELECT 1")

        init() throws {
            address = try TemporaryPostgreSQL.shared().makeDatabase()
            connection = try Self.connect(address)
        }

        private static func connect(
            _ address: String, timeout: Duration = limit, usesPreparedStatements: Bool = true
        ) throws(PostgreSQLError) -> PostgreSQLConnection {
            try PostgreSQLConnection(
                address, applicationName: "tests", timeout: timeout, usesPreparedStatements: usesPreparedStatements)
        }

        private func error(of text: String, on connection: PostgreSQLConnection? = nil) -> PostgreSQLError? {
            do throws(PostgreSQLError) {
                try (connection ?? self.connection).execute(PostgreSQLStatement(text, text), timeout: Self.limit)
                return nil
            } catch {
                return error
            }
        }

        private func raise(_ state: String) -> PostgreSQLError? {
            error(of: "DO $$ BEGIN RAISE EXCEPTION SQLSTATE '\(state)'; END $$")
        }

        // MARK: - Errors

        @Test(
            "the server's codes are kinds of errors, and the connection stays",
            arguments: [
                ("40001", .conflict), ("40P01", .conflict), ("55P03", .conflict),
                ("53100", .diskFull), ("53200", .outOfResources), ("57014", .canceled),
                ("25006", .readOnly), ("42P01", .undefined), ("3F000", .undefined),
                ("26000", .missingPreparedStatement), ("28000", .authentication), ("22012", .other),
            ] as [(String, PostgreSQLError.Kind)])
        func kinds(_ state: String, _ kind: PostgreSQLError.Kind) throws {
            let found = try #require(raise(state))
            #expect(found.kind == kind && found.sqlState == state)
            try connection.execute(Self.one, timeout: Self.limit)
        }

        @Test("a message is one printable line that names the database")
        func message() throws {
            let found = try #require(
                error(of: "DO $$ BEGIN RAISE EXCEPTION E'a\\n\\tb\\u001B[1m%', repeat('x', 9999); END $$"))
            let database = try #require(address.split(separator: "?").first?.split(separator: "/").last)
            #expect(found.message.contains("/\(database): a b\\u{1B}[1mxxx"))
            #expect(found.message.count <= PostgreSQLError.messageLimit + 10)
        }

        @Test("a statement that cannot be prepared fails for each execution and can be repeated")
        func unprepared() throws {
            let select = PostgreSQLStatement("select", "SELECT count(*) FROM later")
            let failed = connection.pipeline(
                Array(repeating: PostgreSQLExecution(select), count: 2), timeout: Self.limit)
            for result in failed {
                #expect(throws: PostgreSQLError.self) { try result.get() }
                if case .failure(let error) = result { #expect(error.kind == .undefined) }
            }
            try connection.script("CREATE TABLE later ()", timeout: Self.limit)
            #expect(try connection.execute(select, timeout: Self.limit).int64(0, 0) == 0)
        }

        @Test("a prepared statement that a pooler lost is prepared again")
        func lostStatement() throws {
            try connection.execute(Self.one, timeout: Self.limit)
            try connection.script("DEALLOCATE ALL", timeout: Self.limit)
            #expect(error(of: "SELECT 1") == nil)
            do throws(PostgreSQLError) {
                try connection.execute(Self.one, timeout: Self.limit)
                Issue.record("the statement was still prepared")
            } catch {
                #expect(error.kind == .missingPreparedStatement)
            }
            try connection.execute(Self.one, timeout: Self.limit)
        }

        @Test("without prepared statements nothing stays on the server")
        func withoutPreparation() throws {
            let plain = try Self.connect(address, usesPreparedStatements: false)
            try plain.execute(Self.one, timeout: Self.limit)
            let count = PostgreSQLStatement(
                "count", "SELECT count(*) FROM pg_prepared_statements WHERE name <> 'count'")
            #expect(try plain.execute(count, timeout: Self.limit).int64(0, 0) == 0)
            try connection.execute(Self.one, timeout: Self.limit)
            #expect(try connection.execute(count, timeout: Self.limit).int64(0, 0) == 1)
        }

        @Test("each result is there before the next one is waited for")
        func streaming() throws {
            let other = try Self.connect(address)
            try other.script("SELECT pg_advisory_lock(1)", timeout: Self.limit)
            let lock = PostgreSQLStatement("lock", "SELECT pg_advisory_lock(1)")
            var failures: [PostgreSQLError] = []
            connection.pipeline([.init(Self.one), .init(lock)], timeout: Self.limit) { result in
                do throws(PostgreSQLError) {
                    _ = try result.get()
                    // The second one waits for this.
                    try other.script("SELECT pg_advisory_unlock_all()", timeout: Self.limit)
                } catch { failures.append(error) }
            }
            #expect(failures.isEmpty)
        }

        // MARK: - Deadlines and lost connections

        @Test("a timeout closes the connection")
        func timeout() throws {
            let sleep = PostgreSQLStatement("sleep", "SELECT pg_sleep(60)")
            let results = connection.pipeline(
                [.init(Self.one), .init(sleep), .init(Self.one)], timeout: .milliseconds(100))
            #expect(results.map(kind) == [nil, .timeout, .timeout])
            #expect(!connection.isOpen)
            #expect(error(of: "SELECT 1")?.kind == .disconnected)
        }

        @Test("executions that were not answered when the server ended the connection are disconnected")
        func termination() throws {
            let end = PostgreSQLStatement("end", "SELECT pg_terminate_backend(pg_backend_pid())")
            let results = connection.pipeline([.init(Self.one), .init(end), .init(Self.one)], timeout: Self.limit)
            #expect(results.map(kind) == [nil, .disconnected, .disconnected])
            #expect(!connection.isOpen)
            let other = try Self.connect(address)
            do throws(PostgreSQLError) {
                try other.script(end.text, timeout: Self.limit)
                Issue.record("the script has a result")
            } catch {
                #expect(error.kind == .disconnected && !other.isOpen)
            }
        }

        @Test(
            "an idle connection learns at its next call that the server was killed, and a server restarts on its data"
        )
        func kill() throws {
            let server = try TemporaryPostgreSQL(isDurable: true)
            let first = try Self.connect(server.address(database: "postgres"))
            let listener = try Self.connect(server.address(database: "postgres"))
            try first.script("CREATE TABLE kept (); LISTEN news", timeout: Self.limit)
            server.kill()
            #expect(error(of: "SELECT 1", on: first)?.kind == .disconnected)
            #expect(throws: PostgreSQLError.self) {
                try listener.waitForNotifications(timeout: Self.limit)
            }
            #expect(!listener.isOpen)
            try server.start()
            let second = try Self.connect(server.address(database: "postgres"))
            #expect(error(of: "SELECT FROM kept", on: second) == nil)
            server.stop()
            #expect(error(of: "SELECT 1", on: second)?.kind == .disconnected)
        }

        private func kind(_ result: Result<PostgreSQLRows, PostgreSQLError>) -> PostgreSQLError
            .Kind?
        {
            if case .failure(let error) = result { error.kind } else { nil }
        }

        // MARK: - Transactions

        @Test("an error in a pipeline leaves the executions before and after it")
        func pipeline() throws {
            try connection.script("CREATE TABLE numbers (n bigint PRIMARY KEY)", timeout: Self.limit)
            let insert = PostgreSQLStatement("insert", "INSERT INTO numbers VALUES ($1)", [.int64])
            let results = connection.pipeline(
                [1, 1, 2].map { (number: Int64) in
                    var parameters = PostgreSQLParameters()
                    parameters.append(number)
                    return PostgreSQLExecution(insert, parameters)
                }, timeout: Self.limit)
            #expect(results.map(kind) == [nil, .other, nil])
            let all = PostgreSQLStatement("all", "SELECT n FROM numbers ORDER BY n")
            let rows = try connection.execute(all, timeout: Self.limit)
            #expect((0..<rows.count).map { rows.int64($0, 0) } == [1, 2])
        }

        @Test("executions between begin and commit are one transaction, and a commit that rolled back throws")
        func transactions() throws {
            try connection.begin(timeout: Self.limit)
            #expect(error(of: "CREATE TABLE created ()") == nil)
            try connection.rollback(timeout: Self.limit)
            #expect(error(of: "SELECT FROM created")?.kind == .undefined)
            try connection.begin(timeout: Self.limit)
            #expect(raise("22012") != nil)
            #expect(throws: PostgreSQLError.self) { try connection.commit(timeout: Self.limit) }
            try connection.begin(timeout: Self.limit)
            #expect(error(of: "CREATE TABLE created ()") == nil)
            try connection.commit(timeout: Self.limit)
            #expect(error(of: "SELECT FROM created") == nil)
        }

        @Test("a script is one transaction")
        func script() throws {
            #expect(throws: PostgreSQLError.self) {
                try connection.script("CREATE TABLE half (); SELECT 1/0", timeout: Self.limit)
            }
            #expect(error(of: "SELECT FROM half")?.kind == .undefined)
            let command = try connection.script(
                "CREATE TABLE IF NOT EXISTS half (); CREATE TABLE IF NOT EXISTS half ()", timeout: Self.limit)
            #expect(command == "CREATE TABLE")
        }

        // MARK: - Notifications

        @Test("notifications of another connection arrive in order, with its process")
        func notifications() throws {
            try connection.script("LISTEN news", timeout: Self.limit)
            let other = try Self.connect(address)
            try other.script("NOTIFY news, 'a'; NOTIFY news", timeout: Self.limit)
            let found = try connection.waitForNotifications(timeout: Self.limit)
            #expect(
                found
                    == ["a", ""].map {
                        PostgreSQLNotification(channel: "news", payload: $0, backendProcessID: other.backendProcessID)
                    })
            #expect(try connection.waitForNotifications(timeout: .milliseconds(1)).isEmpty)
            // Arrived with the answer of an execution.
            try connection.script("NOTIFY news, 'own'", timeout: Self.limit)
            try connection.execute(Self.one, timeout: Self.limit)
            #expect(try connection.waitForNotifications(timeout: .zero).map(\.payload) == ["own"])
        }

        @Test("a descriptor ends the wait for notifications")
        func wake() throws {
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            defer { ends.forEach { close($0) } }
            try #require(write(ends[1], "x", 1) == 1)
            let found = try connection.waitForNotifications(timeout: Self.limit, wakeDescriptor: ends[0])
            #expect(found.isEmpty && connection.isOpen)
        }

        // MARK: - Connecting

        private func connectError(_ address: String, timeout: Duration = limit) -> PostgreSQLError? {
            do throws(PostgreSQLError) {
                _ = try Self.connect(address, timeout: timeout)
                return nil
            } catch {
                return error
            }
        }

        @Test("the application is named unless the address does, and text is UTF-8")
        func defaults() throws {
            let show = PostgreSQLStatement(
                "show", "SELECT current_setting('application_name'), current_setting('client_encoding')")
            let rows = try connection.execute(show, timeout: Self.limit)
            #expect(rows.text(0, 0) == "tests" && rows.text(0, 1) == "UTF8")
            let other = try Self.connect(address + "&application_name=mine&client_encoding=LATIN1")
            let named = try other.execute(show, timeout: Self.limit)
            #expect(named.text(0, 0) == "mine" && named.text(0, 1) == "UTF8")
            #expect(other.serverVersion >= 120_000)
        }

        /// A socket that accepts nothing, and its port.
        private static func listener() -> (socket: Int32, port: Int) {
            let listener = socket(AF_INET, 1 /* SOCK_STREAM */, 0)
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = bind(listener, $0, length)
                    _ = Essentials.listen(listener, 1)
                    _ = getsockname(listener, $0, &length)
                }
            }
            return (listener, Int(UInt16(bigEndian: name.sin_port)))
        }

        @Test("hosts that refuse, do not answer or only read are passed over")
        func severalHosts() throws {
            let server = try TemporaryPostgreSQL.shared()
            let standby = try TemporaryPostgreSQL(settings: ["default_transaction_read_only": "on"])
            let (silent, port) = Self.listener()
            defer { close(silent) }
            let hosts = "/nowhere,127.0.0.1,\(standby.directory),\(server.directory)"
            let address = "host=\(hosts) port=5432,\(port),5432,5432 user=postgres dbname=postgres connect_timeout=1"
            let connection = try Self.connect(address)
            #expect(connection.endpoint.contains(server.directory))
            let failed = try #require(connectError("host=/nowhere,\(standby.directory) user=postgres"))
            #expect(failed.kind == .cannotConnect)
            #expect(failed.message.contains("/nowhere") && failed.message.contains("read-only"))
            let late = try #require(connectError("host=127.0.0.1 port=\(port)", timeout: .milliseconds(50)))
            #expect(late.message.contains("no answer") && late.kind == .cannotConnect)
            let readOnly = try #require(connectError("host=\(standby.directory) user=postgres"))
            #expect(readOnly.kind == .readOnly)
        }

        @Test("the host to avoid is tried after the others, and also alone")
        func avoided() throws {
            let host = try TemporaryPostgreSQL.shared().directory
            for (hosts, expected) in [("\(host),\(host)/.", "\(host)/."), (host, host)] {
                let found = try PostgreSQLConnection(
                    "host=\(hosts) port=5432 user=postgres dbname=postgres", applicationName: "tests",
                    timeout: Self.limit, avoiding: "PostgreSQL \(host):5432/postgres")
                #expect(found.endpoint == "PostgreSQL \(expected):5432/postgres")
            }
        }

        @Test("passwords are in no error")
        func passwords() throws {
            let secret = "c0rrect:h@rse"
            let encoded = "c0rrect%3Ah%40rse"
            let host = try TemporaryPostgreSQL.shared().directory
            let addresses = [
                "postgres://\(secret)@/x?host=/nowhere", "postgres://u:\(encoded)@:x:/x",
                "postgres://u:\(encoded)@/x?host=/nowhere&unknown=1", "password=\(secret) other",
                "user=nobody dbname='\(secret)' password=\(secret) host=\(host)",
                "user=nobody password=\(secret) host=\(host) options='\(secret)'",
                "service=none password=\(secret)", "postgres://u:c0rrect/h@127.0.0.1:1/x",
                "postgresql://u:0/rrect@127.0.0.1:1/x?host=/nowhere",
            ]
            for address in addresses {
                let found = try #require(connectError(address), "\(address)")
                let kinds: [PostgreSQLError.Kind] = [.cannotConnect, .authentication, .invalidAddress]
                #expect(kinds.contains(found.kind), "\(found)")
                #expect(!found.message.contains("rrect"), "\(found)")
            }
        }

        @Test("a wrong role is an authentication error, a missing database is not")
        func authentication() throws {
            let server = try TemporaryPostgreSQL.shared()
            let role = try #require(connectError("host=\(server.directory) user=nobody"))
            #expect(role.kind == .authentication && role.sqlState == "28000")
            let database = try #require(connectError(server.address(database: "missing")))
            #expect(database.kind == .cannotConnect && database.sqlState == "3D000")
        }

        @Test("a missing password is an authentication error")
        func missingPassword() throws {
            let (listener, port) = Self.listener()
            close(listener)
            let server = try TemporaryPostgreSQL(loopbackPort: port)
            withExtendedLifetime(server) {
                let found = connectError("host=127.0.0.1 port=\(port) user=postgres passfile=/dev/null")
                #expect(found?.kind == .authentication)
            }
        }
    }
#endif
