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

    /// Backup, restore, check and dump of a PostgreSQL database, with real processes.
    @Suite(
        "Backup of a database", .timeLimit(.minutes(5)),
        .enabled(if: TemporaryPostgreSQL.missing == nil, "PostgreSQL is not on this machine"))
    struct DatabaseBackupTests {
        private let directory = try! TemporaryDirectory()
        private let address = try! TemporaryPostgreSQL.shared().makeDatabase()
        private var data: String { directory.file("data") }
        private var backup: String { directory.file("backup") }

        @discardableResult
        private func kvsd(
            _ arguments: String..., status: Int32 = 0
        ) async throws -> (status: Int32, output: String, errors: String) {
            let result = try await DaemonProcess.run(arguments)
            #expect(result.status == status, "\(arguments): \(result)")
            return result
        }

        /// Stores with keys, a tombstone and a removed store in the data directory.
        private func fill(stores: Int, keys: Int) throws {
            let ledger = try DataDirectory(data).openLedger()
            for store in 0..<stores {
                let changes = (0..<keys).map {
                    Samples.change("k\($0)", Samples.stamp(), "\(store)")
                }
                _ = try ledger.accept(
                    changes + [Samples.change("gone", Samples.stamp(), nil)],
                    to: StoreID(account: "default", name: "s\(store)"), now: Samples.now)
            }
            let removed = StoreID(account: "default", name: "removed")
            _ = try ledger.accept([Samples.change("k")], to: removed, now: Samples.now)
            _ = try ledger.remove(removed)
            try ledger.close()
        }

        /// The numbers that are the values of the store `s`.
        private func values(_ dump: String) throws -> [String: Int] {
            struct Line: Decodable {
                var key: String
                var value: Data
            }
            return Dictionary(
                uniqueKeysWithValues: try dump.split(separator: "\n").map {
                    let line = try JSONDecoder().decode(Line.self, from: Data($0.utf8))
                    return (line.key, Int(String(decoding: line.value, as: UTF8.self)) ?? 0)
                })
        }

        @Test("nothing acknowledged before a backup is missing in it, while two nodes write")
        func whileNodesWrite() async throws {
            let nodes = try await DatabaseNodes(address)
            let acknowledged = DatabaseNodes.Acknowledged()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask { await nodes.write("k\(writer)", at: writer % 2, acknowledged) }
                }
                for round in 1...2 {
                    try await wait {
                        acknowledged.all.count == 4 && acknowledged.count >= 40 * round
                    }
                    let before = acknowledged.all
                    try await kvsd("backup", backup, "--replace", "--database", address)
                    let intact = try await kvsd("check", "--database", address)
                    #expect(intact.output.hasSuffix("All intact.\n"))
                    let copy = directory.file("copy\(round)")
                    try await kvsd("restore", backup, "--data", copy)
                    let found = try values(try await kvsd("dump", "--values", "--data", copy).output)
                    let missing = before.filter { found[$0.key, default: 0] < $0.value }
                    #expect(missing.isEmpty)
                }
                group.cancelAll()
            }
            let refused = try await kvsd("restore", backup, "--database", address, "--replace", "--yes", status: 75)
            #expect(refused.errors.contains("kvsd runs on the database"))
            await nodes.stop()
        }

        @Test("a backup of a log is restored into a database, and the other way round, without a difference")
        func bothWays() async throws {
            _ = try await DaemonProcess.addDevice("laptop", dataPath: data)
            try fill(stores: 300, keys: 2)
            try Data("key".utf8).write(to: URL(filePath: data + "/tls-key.pem"))
            try Data(#"{"log-level": "debug"}"#.utf8).write(to: URL(filePath: data + "/config.json"))
            try await kvsd("backup", backup, "--data", data)
            let node = directory.file("node")
            let restored = try await kvsd("restore", backup, "--database", address, "--data", node)
            #expect(restored.output.contains("Put tls-key.pem into \(node)"))
            #expect(directory.bytes("node/tls-key.pem") == Array("key".utf8))
            let dump = try await kvsd("dump", "--values", "--data", data).output
            #expect(dump.split(separator: "\n").count == 900)
            let there = try await kvsd("dump", "--values", "--database", address)
            #expect(there.output == dump)

            try await kvsd("backup", backup, "--replace", "--database", address, "--data", node)
            #expect(try await kvsd("check", backup).output.contains("300 stores, 600 keys. All intact"))
            let back = directory.file("back")
            try await kvsd("restore", backup, "--data", back)
            #expect(try await kvsd("dump", "--values", "--data", back).output == dump)
            #expect(try await kvsd("device", "list", "--data", back).output.contains("laptop"))
            // The settings of a node name its database.
            let names = try FileManager.default.contentsOfDirectory(atPath: back)
            #expect(names.contains("tls-key.pem") && !names.contains("config.json"), "\(names)")
            let removed = try DataDirectory(back).inspect().found.allStores.filter(\.isRemoved)
            #expect(removed.map(\.id.name) == ["removed"])
        }

        @Test("replicas start over after a restore, and what is replaced stays in the database")
        func replaces() async throws {
            func node() async throws -> DaemonProcess {
                try await DaemonProcess(dataPath: data, arguments: ["--database", address])
            }
            var daemon = try await node()
            let token = try await DaemonProcess.addDevice("d", dataPath: data, arguments: ["--database", address])
            let first = try await daemon.sync(token, Samples.request([Samples.change("a")]))
            try await kvsd("backup", backup, "--database", address, "--data", data)
            let later = try await daemon.sync(token, Samples.request([Samples.change("b")], since: first.cursor))
            try await kvsd("device", "remove", "d", "--database", address)
            #expect(await daemon.stop() == 0)

            let unasked = try await kvsd("restore", backup, "--database", address, status: 73)
            #expect(unasked.errors.contains("already has data: 1 store, 2 keys"))
            let arguments = ["restore", backup, "--replace", "--yes", "--database", address]
            let restored = try await DaemonProcess.run(arguments + ["--data", data])
            try #require(restored.status == 0, "\(restored)")
            #expect(restored.output.contains("Admitted again: the device d"))
            let aside = try #require(restored.output.firstMatch(of: /in the schema (ubiquity_before_restore_\d+)\./)?.1)
            let database = try PostgreSQLConnection(testing: address)
            #expect(database.number("SELECT count(*) FROM \(aside).record") == 2)
            daemon = try await node()
            let again = try await daemon.sync(token, Samples.request(since: later.cursor))
            #expect(again.isInitial && again.changes.map(\.record.key.text) == ["a"])
            #expect(await daemon.stop() == 0)
            let kept = try await DaemonProcess.run(arguments + ["--keep-devices", "--data", data])
            #expect(kept.status == 0 && !kept.output.contains("Admitted"), "\(kept)")
            #expect(try await kvsd("device", "list", "--database", address).output.contains("d  "))
        }

        @Test("no node starts on a restore that was killed, and running it again finishes it")
        func killed() async throws {
            _ = try await DaemonProcess.addDevice("laptop", dataPath: data)
            try fill(stores: 2_000, keys: 1)
            try await kvsd("backup", backup, "--data", data)
            let arguments = ["restore", backup, "--database", address, "--data", directory.file("node")]
            try await DaemonProcess.killCopy(arguments, into: address)
            for command in [
                [
                    "serve", "--listen", "127.0.0.1:0", "--data", directory.file("node"),
                    "--database",
                ],
                ["dump", "--database"], ["migrate", "--data", directory.file("other"), "--from"],
            ] {
                let early = try await DaemonProcess.run(command + [address])
                #expect(early.status == 75 && early.errors.contains("'kvsd restore FILE' again"))
            }
            let done = try await DaemonProcess.run(arguments)
            #expect(done.output.hasPrefix("Restored 2000 stores, 2000 keys to"), "\(done)")
            let dumps = [
                try await kvsd("dump", "--database", address),
                try await kvsd("dump", "--data", data),
            ]
            #expect(dumps[0].output == dumps[1].output)
        }

        @Test("check names what is damaged by store and key, and no damaged database is backed up")
        func damage() async throws {
            try fill(stores: 8, keys: 2)
            try await kvsd("backup", backup, "--data", data)
            try await kvsd("restore", backup, "--database", address, "--data", directory.file("node"))
            let former = directory.bytes("backup")
            func store(_ number: Int) -> String {
                "(SELECT id FROM ubiquity.store WHERE name = 's\(number)')"
            }
            try PostgreSQLConnection(testing: address).run(
                """
                UPDATE ubiquity.store SET key_count = 9 WHERE name = 's0';
                UPDATE ubiquity.store SET revision = 8 WHERE name = 's1';
                UPDATE ubiquity.store SET state = '\\x00' WHERE name = 's2';
                UPDATE ubiquity.record SET stamp = '\\x00' WHERE key = 'k1' AND store = \(store(3));
                UPDATE ubiquity.record SET revision = 77 WHERE key = 'k1' AND store = \(store(4));
                UPDATE ubiquity.record SET revision = 1 WHERE key = 'k1' AND store = \(store(5));
                INSERT INTO ubiquity.record SELECT 999, key, revision, stamp, value
                    FROM ubiquity.record WHERE store = \(store(6));
                UPDATE ubiquity.store SET account = 'guests' WHERE name = 's7';
                """)
            let check = try await kvsd("check", "--database", address, status: 74)
            for text in [
                "default/s0: damaged: key_count is 9, and the records have 2",
                "default/s1: damaged: the revision is 8, and in the state 3",
                "default/s2: damaged: the state cannot be decoded",
                "default/s3: damaged at the key 'k1': the key or the stamp cannot be decoded",
                "default/s4: damaged at the key 'k1': the revision 77 is not one of the store, which has 3",
                "default/s5: damaged at the key 'k1': another record has the revision 1 too",
                "default/s6: 2 keys, 2 bytes, sequence number 3, epoch ",
                "guests/s7: the account does not exist, so that no device can use the store",
                "damaged: 3 records have no store 999",
            ] { #expect(check.output.contains(text), "\(text): \(check.output)") }
            #expect(check.errors.contains("'kvsd restore FILE --replace'"))
            let dump = try await kvsd("dump", "--database", address, status: 74)
            #expect(dump.output.split(separator: "\n").count == 23)
            let refused = try await kvsd("backup", backup, "--replace", "--database", address, status: 74)
            #expect(refused.errors.contains("default/s0: damaged"))
            #expect(directory.bytes("backup") == former)
        }

        @Test("names in a database reach the terminal escaped")
        func escaped() async throws {
            try fill(stores: 1, keys: 2)
            try await kvsd("backup", backup, "--data", data)
            try await kvsd("restore", backup, "--database", address, "--data", directory.file("node"))
            try PostgreSQLConnection(testing: address).run(
                "UPDATE ubiquity.store SET account = E'a\\x1b[31m', name = E's\\x07' || id")
            for command in [["check"], ["store", "list"], ["account", "list"], ["dump"]] {
                let shown = try await DaemonProcess.run(command + ["--database", address])
                #expect(shown.status == 0, "\(shown)")
                #expect(!(shown.output + shown.errors).contains { "\u{1B}\u{7}".contains($0) })
                #expect(shown.output.contains("[31m"), "\(shown)")
            }
        }

        @Test("a line for a device needs no node on this machine if the address is given")
        func pairing() async throws {
            try await kvsd("account", "add", "guests", "--database", address)
            let command = ["pair", "--database", address, "--data", directory.file("none")]
            let refused = try await DaemonProcess.run(command)
            #expect(refused.status == 66 && refused.errors.contains("--url for the address of the nodes"))
            let line = try await DaemonProcess.run(command + ["--url", "box.example.org"])
            #expect(line.output.hasPrefix("ubiquity://box.example.org:443/"), "\(line)")
        }
    }
#endif
