#if PostgreSQL
    import StoreTestSupport
    import Foundation
    import NIOCore
    import NIOPosix
    import KVStorePostgreSQL
    import ServerTestSupport
    import Testing

    /// TLS to a PostgreSQL server on another machine, whose part this one plays.
    @Suite(
        "TLS to a database", .timeLimit(.minutes(5)),
        .enabled(if: TemporaryPostgreSQL.hasTLS, "needs openssl and PostgreSQL with TLS"))
    struct DatabaseTLSTests {
        private let directory = try! TemporaryDirectory()

        @Test("a server on another machine needs TLS and a certificate of its name from a known authority")
        func verification() async throws {
            let reserved = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .bind(host: "127.0.0.1", port: 0).get()
            let port = try #require(reserved.localAddress?.port)
            try await reserved.close()
            let server = try TemporaryPostgreSQL(loopbackPort: port)
            func run(_ sql: String) throws {
                try PostgreSQLConnection(testing: server.address(database: "postgres")).run(sql)
            }
            // By a process of the server in its directory, so that the keys are its user's.
            for (file, names) in [("right", "DNS:127.1,IP:127.0.0.1"), ("wrong", "DNS:db.example")] {
                try run(
                    """
                    COPY (SELECT WHERE false) TO PROGRAM '/usr/bin/openssl req -x509 -newkey rsa:2048 -nodes -days 2 \
                    -subj /CN=\(file) -addext subjectAltName=\(names) \
                    -keyout \(file).key -out \(file).crt 2>/dev/null'
                    """)
            }
            try run("CREATE ROLE remote SUPERUSER LOGIN PASSWORD 'sesame'")
            func use(_ file: String) throws {
                try run("ALTER SYSTEM SET ssl = on")
                try run("ALTER SYSTEM SET ssl_cert_file = '\(file).crt'")
                try run("ALTER SYSTEM SET ssl_key_file = '\(file).key'")
                server.stop()
                try server.start()
            }
            // A loopback address that does not look like one.
            func address(_ options: String) -> String {
                "postgres://remote:sesame@127.1:\(port)/postgres?\(options)"
            }
            func certificate(_ file: String) -> String { "\(server.directory)/data/\(file).crt" }
            func connect(_ options: String) async throws -> (status: Int32, message: String) {
                let found = try await DaemonProcess.run([
                    "device", "list", "--database", address(options),
                ])
                #expect(!found.errors.contains("sesame"), "\(found)")
                return (found.status, found.errors)
            }
            func expectRefusal(_ file: String, _ reason: String) async throws {
                let found = try await connect("sslrootcert=\(certificate(file))")
                #expect(found.status == 75, "\(found)")
                #expect(found.message.contains("PostgreSQL 127.1:\(port)/postgres"), "\(found)")
                #expect(found.message.contains(reason), "\(found)")
                #expect(found.message.contains("the server needs TLS"), "\(found)")
            }
            let connected: Int32 = 66  // and found no schema
            try await expectRefusal("right", "server does not support SSL")
            #expect(try await connect("sslmode=disable").status == connected)
            try use("right")
            let verified = try await connect("sslrootcert=\(certificate("right"))")
            #expect(verified.status == connected, "\(verified)")
            try await expectRefusal("wrong", "certificate verify failed")
            let node = try await DaemonProcess(
                dataPath: directory.file("data"),
                arguments: ["--database", address("sslrootcert=\(certificate("right"))")])
            try use("wrong")
            try await expectRefusal("wrong", "does not match host name")
            var said = ""
            do {
                try await wait {
                    said = try await DaemonProcess.run(["status", "--data", node.dataPath]).output
                    return said.contains("certificate verify failed")
                }
            } catch {
                Issue.record("kvsd status: \(said)")
            }
            #expect(await node.stop() == 0)
        }
    }

    extension TemporaryPostgreSQL {
        fileprivate static let hasTLS: Bool = {
            guard missing == nil, access("/usr/bin/openssl", X_OK) == 0,
                let address = try? shared().address(database: "postgres")
            else { return false }
            // Names no library if the server was built without one.
            let query = "SELECT length(current_setting('ssl_library'))"
            return (try? PostgreSQLConnection(testing: address))?.number(query) ?? 0 > 0
        }()
    }
#endif
