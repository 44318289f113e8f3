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
    import Testing

    /// Commands of kvsd on a PostgreSQL database, with real processes.
    @Suite(
        "Commands on a database", .timeLimit(.minutes(5)),
        .enabled(if: TemporaryPostgreSQL.missing == nil, "PostgreSQL is not on this machine"))
    struct DatabaseCommandTests {
        private let directory = try! TemporaryDirectory()
        private let address = try! TemporaryPostgreSQL.shared().makeDatabase()
        private var data: String { directory.file("data") }

        private func kvsd(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
            try await DaemonProcess.run(arguments)
        }

        private func node(_ name: String) async throws -> DaemonProcess {
            try await DaemonProcess(dataPath: directory.file(name), arguments: ["--database", address])
        }

        private func instance(
            _ daemon: DaemonProcess, _ token: String
        ) async throws -> (status: HTTPResponse.Status, text: String) {
            let client = TestClient(port: daemon.port)
            let response = try await client.execute(
                uri: "/v1/me", method: .get, headers: [.authorization: "Bearer \(token)"])
            await client.close()
            struct Document: Decodable { var epoch: String }
            let body = Data(response.body.readableBytesView)
            return (response.status, (try? JSONDecoder().decode(Document.self, from: body))?.epoch ?? "")
        }

        // MARK: - Devices

        @Test("devices of a database are added, listed, renamed and removed for all its nodes")
        func devices() async throws {
            let nodes = [try await node("a"), try await node("b")]
            let database = ["--database", address]
            let token = try await DaemonProcess.addDevice("phone", dataPath: data, arguments: database)
            #expect(!FileManager.default.fileExists(atPath: data))
            for node in nodes { #expect(try await instance(node, token).status == .ok) }
            let renamed = try await kvsd("device", "rename", "phone", "pad", "--database", address)
            #expect(renamed.status == 0, "\(renamed)")
            // As on a node: the setting is in the file of the data directory.
            let config = try JSONEncoder().encode(["database": address])
            try config.write(to: URL(filePath: nodes[0].dataPath + "/config.json"))
            let list = try await kvsd("device", "list", "--data", nodes[0].dataPath)
            #expect(list.output.contains("pad"), "\(list)")
            let removed = try await kvsd("device", "remove", "pad", "--data", nodes[0].dataPath)
            #expect(removed.status == 0, "\(removed)")
            for node in nodes {
                try await wait { try await instance(node, token).status == .unauthorized }
            }
            for node in nodes { #expect(await node.stop() == 0) }
        }

        @Test("an account of a database is removed by its nodes, and the command says if none runs")
        func accounts() async throws {
            let added = try await kvsd("account", "add", "guests", "--database", address)
            #expect(added.status == 0, "\(added)")
            let removed = try await kvsd("account", "remove", "guests", "--yes", "--database", address)
            #expect(removed.output.contains("the next daemon that starts removes"), "\(removed)")
            let node = try await node("a")
            try await wait {
                let list = try await kvsd("account", "list", "--database", address)
                return list.status == 0 && !list.output.contains("guests")
            }
            #expect(await node.stop() == 0)
        }

        @Test("stores of a database are listed and removed")
        func stores() async throws {
            let node = try await node("a")
            let token = try await DaemonProcess.addDevice("d", dataPath: data, arguments: ["--database", address])
            let first = try await node.sync(token, Samples.request([Samples.change("k")]))
            #expect(try await kvsd("store", "list", "--database", address).output.contains("s  "))
            let removed = try await kvsd("store", "remove", "s", "--database", address)
            #expect(removed.output == "Removed s of the account default: 1 keys.\n", "\(removed)")
            let again = try await node.sync(token, Samples.request(since: first.cursor))
            #expect(again.isInitial && again.changes.isEmpty)
            #expect(await node.stop() == 0)
        }

        @Test("a node with the directory of another is refused, and the other goes on")
        func sameDirectory() async throws {
            let node = try await node("a")
            let data = directory.file("a")
            let second = try await DaemonProcess.run([
                "serve", "--data", data, "--listen", "127.0.0.1:0", "--database", address,
            ])
            #expect(second.status == 75 && second.errors.contains("is in use by another server"))
            let status = try await DaemonProcess.run(["status", "--data", data])
            #expect(status.status == 0 && status.output.contains("cache  "), "\(status)")
            #expect(!status.output.contains("memory"), "\(status.output)")
            #expect(await node.stop() == 0)
        }

        @Test(
            "a password in an argument is warned of and not shown, whichever option has it",
            arguments: [
                ["device", "list", "--database"],
                ["serve", "--listen", "127.0.0.1:0", "--database"],
                ["serve", "--listen", "127.0.0.1:0", "--set", "database="], ["migrate", "--from"],
            ])
        func password(command: [String]) async throws {
            for address in [
                "postgres://kvsd:s3cret@127.0.0.1:1/none", "host=127.0.0.1 port=1 password=s3cret",
            ] {
                var arguments = command
                let option = arguments.removeLast()
                arguments += option.hasSuffix("=") ? [option + address] : [option, address]
                let result = try await DaemonProcess.run(arguments + ["--data", data])
                #expect(result.status != 0)
                #expect(result.errors.contains("sees the password in the list of processes"), "\(result)")
                #expect(!result.errors.contains("s3cret"), "\(result)")
            }
            let clean = try await kvsd("device", "list", "--database", "postgres://kvsd@127.0.0.1:1/none")
            #expect(!clean.errors.contains("password in the list"), "\(clean)")
        }

        @Test("a database without data of a daemon is an error, and nothing is created")
        func mistyped() async throws {
            let result = try await kvsd("device", "list", "--database", address)
            #expect(result.status == 66, "\(result)")
            let found = try PostgreSQLConnection(testing: address).number(
                "SELECT count(*) FROM pg_namespace WHERE nspname = 'ubiquity'")
            #expect(found == 0)
        }

        @Test("an address that libpq cannot read is an invalid configuration, and one without a server is not")
        func malformed() async throws {
            let malformed = try await kvsd("store", "list", "--database", "postgres:/kvsd")
            #expect(malformed.status == 78, "\(malformed)")
            #expect(malformed.errors.contains("write it as postgres://"), "\(malformed)")
            let missing = try await kvsd("store", "list", "--database", "postgres:///?host=/none")
            #expect(missing.status == 75 && missing.errors.contains("is running"), "\(missing)")
            for option in ["--to", "--from"] {
                let empty = try await kvsd("migrate", option, "", "--data", data)
                #expect(empty.status == 64 && empty.errors.contains("is empty"), "\(empty)")
            }
        }

        // MARK: - Moving

        @Test("a replica notices nothing of a move to a database and back")
        func move() async throws {
            let token = try await DaemonProcess.addDevice("d", dataPath: data)
            var daemon = try await DaemonProcess(dataPath: data)
            let epoch = try await instance(daemon, token).text
            _ = try await daemon.sync(
                token, Samples.request([Samples.change("a"), Samples.change("gone", Samples.stamp(), nil)])
            )
            var cursor = try await daemon.sync(token, Samples.request()).cursor
            let running = try await kvsd("migrate", "--to", address, "--data", data)
            #expect(running.status == 75 && running.errors.contains("stop it first"), "\(running)")
            #expect(await daemon.stop() == 0)

            let there = try await kvsd("migrate", "--to", address, "--data", data, "--json")
            try #require(there.status == 0, "\(there)")
            let locked = try await kvsd("serve", "--data", data, "--listen", "127.0.0.1:0")
            #expect(locked.status == 78 && locked.errors.contains("has moved"), "\(locked)")
            #expect(try await kvsd("device", "list", "--data", data).status == 78)
            daemon = try await DaemonProcess(dataPath: data, arguments: ["--database", address])
            #expect(try await instance(daemon, token).text == epoch)
            var answer = try await daemon.sync(token, Samples.request(since: cursor))
            #expect(!answer.isInitial && answer.changes.isEmpty)
            answer = try await daemon.sync(token, Samples.request([Samples.change("b")], since: cursor))
            #expect(!answer.isInitial)
            let nodes = try await kvsd("migrate", "--from", address, "--data", data)
            #expect(nodes.status == 75 && nodes.errors.contains("kvsd runs on the database"), "\(nodes)")
            #expect(await daemon.stop() == 0)

            let back = try await kvsd("migrate", "--from", address, "--data", data)
            try #require(back.status == 0, "\(back)")
            let closed = try await kvsd("device", "list", "--database", address)
            #expect(closed.status == 75 && closed.errors.contains("has moved"), "\(closed)")
            daemon = try await DaemonProcess(dataPath: data)
            #expect(try await instance(daemon, token).text == epoch)
            answer = try await daemon.sync(token, Samples.request(since: cursor))
            #expect(!answer.isInitial && answer.changes.map(\.record.key.text) == ["b"])
            cursor = answer.cursor
            #expect(await daemon.stop() == 0)

            let again = try await kvsd("migrate", "--to", address, "--data", data)
            try #require(again.status == 0, "\(again)")
            daemon = try await DaemonProcess(dataPath: data, arguments: ["--database", address])
            answer = try await daemon.sync(token, Samples.request(since: cursor))
            #expect(!answer.isInitial && answer.changes.isEmpty)
            #expect(await daemon.stop() == 0)
        }

        @Test("a move that is killed begins again, and no node starts on what it has copied")
        func kill() async throws {
            _ = try await DaemonProcess.addDevice("d", dataPath: data)
            try DataDirectory(data).fill(stores: 3_000, keys: 2)
            try await DaemonProcess.killCopy(["migrate", "--to", address, "--data", data], into: address)
            let database = try PostgreSQLConnection(testing: address)
            let copied = try #require(database.number("SELECT count(*) FROM ubiquity.store"))
            #expect((1..<3_000).contains(copied))
            let early = try await kvsd("serve", "--database", address, "--data", data, "--listen", "127.0.0.1:0")
            #expect(early.status == 75 && early.errors.contains("interrupted"), "\(early)")
            // What changed since, in the log and in the copy.
            try DataDirectory(data).fill(stores: 1, keys: 5)
            try database.run("DELETE FROM ubiquity.record WHERE key = 'k1' AND store % 100 = 1")
            let done = try await kvsd("migrate", "--to", address, "--data", data)
            try #require(done.status == 0, "\(done)")
            #expect(done.output.contains("keys      6003 "), "\(done.output)")
            #expect(database.number("SELECT count(*) FROM ubiquity.record") == 6_003)
            let other = try await kvsd("migrate", "--to", address, "--data", data)
            #expect(other.status == 73, "\(other)")
        }

        @Test("a copy that differs from the log is an error, and the log remains in use")
        func checksums() async throws {
            _ = try await DaemonProcess.addDevice("d", dataPath: data)
            try DataDirectory(data).fill(stores: 2, keys: 2)
            // Stands for a database that loses a write.
            try #require(try await kvsd("account", "list", "--database", address).status == 66)
            try #require(try await kvsd("account", "add", "x", "--database", address).status == 0)
            try PostgreSQLConnection(testing: address).run(
                """
                CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
                CREATE TRIGGER lossy BEFORE INSERT ON ubiquity.record FOR EACH ROW
                    WHEN (new.revision = 2) EXECUTE FUNCTION lose()
                """)
            let result = try await kvsd("migrate", "--to", address, "--data", data)
            #expect(result.status == 74 && result.errors.contains("differs"), "\(result)")
            #expect(try await kvsd("device", "list", "--data", data).status == 0)
        }
    }
#endif
