#if PostgreSQL
    import Dispatch
    import Essentials
    import HTTPTypes
    import KVStoreWire
    import ServerTestSupport
    import Synchronization
    import StoreTestSupport
    import Testing

    @testable import KVStorePostgreSQL
    @testable import KVStoreServer

    @Suite(
        "Accounts of a database", .timeLimit(.minutes(2)),
        .enabled(if: TemporaryPostgreSQL.missing == nil, "PostgreSQL is not on this machine"))
    struct AccountTests {
        private let nodes: [DeviceNode]

        init() throws {
            let address = try TemporaryPostgreSQL.shared().makeDatabase()
            nodes = try (0..<2).map { _ in try DeviceNode(address) }
        }

        private func failure(_ body: () throws -> Void) -> ServerError.Code? {
            do {
                try body()
                return nil
            } catch {
                return (error as? ServerError)?.code
            }
        }

        @Test("an account that is added on two nodes at once is there once")
        func adding() {
            let failures = Mutex<[ServerError.Code?]>([])
            DispatchQueue.concurrentPerform(iterations: 2) { node in
                let failure = failure { try nodes[node].storage.addAccount("work") }
                failures.withLock { $0.append(failure) }
            }
            #expect(Set(failures.withLock { $0 }) == [nil, .invalidAccount])
        }

        @Test("limits are changed on one node and read on the other")
        func limits() throws {
            let storage = nodes[0].storage
            try storage.addAccount("work", byteLimit: 10_000_000_000, storeLimit: 3)
            _ = try storage.limitAccount("work") { $0.storeLimit = nil }
            let found = try nodes[1].storage.table(.account("work")).account("work")
            #expect(found?.byteLimit == 10_000_000_000 && found?.storeLimit == nil)
            #expect(failure { _ = try storage.limitAccount("none") { _ in } } == .invalidAccount)
            #expect(failure { _ = try storage.add("d", DevicePermissions(account: "none")) } == .invalidAccount)
        }

        @Test("the limit on devices is that of each account")
        func deviceLimit() throws {
            let storage = nodes[0].storage
            try storage.addAccount("work")
            try nodes[0].sql(
                """
                INSERT INTO ubiquity.device (id, account, name, token_sha256, scopes, created)
                SELECT 'id' || i, 'work', 'n' || i, sha256(i::text::bytea), '{read}', 0
                FROM generate_series(1, \(DeviceTable.deviceCount)) i
                """)
            #expect(failure { _ = try storage.add("d", DevicePermissions(account: "work")) } == .invalidDevice)
            _ = try storage.add("d", DevicePermissions())
        }

        @Test("a removed account loses devices and codes at once and its stores soon, and can be added again")
        func removal() async throws {
            let (storage, node) = (nodes[0].storage, nodes[1])
            try storage.addAccount("work")
            let permissions = DevicePermissions(account: "work")
            let token = try storage.add("laptop", permissions).token
            _ = try storage.addPairing(name: nil, permissions)
            try await node.served { client, _ in
                try await client.put(Data("1".utf8), key: "k", token: token)
                try storage.beginRemoval(ofAccount: "work")
                #expect(
                    try node.number(
                        "SELECT (SELECT count(*) FROM ubiquity.device WHERE account = 'work') "
                            + "+ (SELECT count(*) FROM ubiquity.pairing)") == 0)
                try await wait { try storage.removedAccount == nil }
                let refused = try await client.execute(uri: "/v1/stores", method: .get, headers: .token(token))
                #expect(refused.status == .unauthorized)
                try storage.addAccount("work")
                let again = try storage.add("laptop", permissions).token
                let stores = try await client.execute(uri: "/v1/stores", method: .get, headers: .token(again))
                #expect(try stores.decoded(StoreList.self).stores.isEmpty)
            }
        }

        @Test("one node at a time removes accounts")
        func lock() throws {
            let isFirst = try nodes[0].storage.removeAccounts { checkLock in
                try checkLock()
                let isSecond = try nodes[1].storage.removeAccounts { _ in }
                #expect(!isSecond)
            }
            #expect(isFirst)
            #expect(try nodes[1].storage.removeAccounts { _ in })
        }
    }
#endif
