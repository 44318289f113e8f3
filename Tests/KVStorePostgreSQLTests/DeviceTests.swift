#if PostgreSQL
    import Essentials
    import HTTPTypes
    import KVStoreWire
    import NIOCore
    import ServerTestSupport
    import Synchronization
    import StoreTestSupport
    import Testing

    @testable import KVStorePostgreSQL
    @testable import KVStoreServer

    @Suite(
        "Devices of a database", .timeLimit(.minutes(2)),
        .enabled(if: TemporaryPostgreSQL.missing == nil, "PostgreSQL is not on this machine"))
    struct DeviceTests {
        private func nodes() throws -> (DeviceNode, DeviceNode) {
            let address = try TemporaryPostgreSQL.shared().makeDatabase()
            return (try DeviceNode(address), try DeviceNode(address))
        }

        private func remove(_ device: Device, on node: DeviceNode) throws {
            _ = try node.devices.change(.account(device.account)) { table throws(ServerError) in
                try table.remove(device.id, account: device.account)
            }
        }

        @Test("a device is read as it was added")
        func fields() async throws {
            let (first, second) = try nodes()
            #expect(!second.server.hasDevices)
            for permissions in [
                DevicePermissions(isReadOnly: true, stores: ["a", "b.c"], isTrusted: true),
                DevicePermissions(stores: [], isAdmin: true, isPage: true), DevicePermissions(),
            ] {
                let (device, token) = try first.storage.add("laptop ✓, \"new\"", permissions, isRenamed: true)
                #expect(second.server.hasDevices)
                #expect(try await second.found(token) == .device(device))
            }
            #expect(first.devices.instance == second.devices.instance)
            let names = try await second.described().map(\.device)
            #expect(try first.storage.table(.all).devices.map(\.name) == names)
            #expect(names.count == 3)
        }

        @Test("a device that is removed on one node is gone there at once, and elsewhere when told")
        func removal() async throws {
            let (first, second) = try nodes()
            let (device, token) = try first.storage.add("laptop", DevicePermissions())
            let (other, otherToken) = try first.storage.add("phone", DevicePermissions())
            let notices = Mutex(0)
            second.devices.observe(updating: AccountRegistry()) { notices.withLock { $0 += 1 } }
            for node in [first, second] {
                #expect(try await node.found(token) == .device(device))
                #expect(try await node.found(otherToken) == .device(other))
            }
            let generation = second.devices.generation
            try remove(device, on: first)
            #expect(!first.devices.isCurrent(device) && first.devices.isCurrent(other))
            #expect(second.devices.isCurrent(device))
            second.devices.markChanged(ofAccount: "another")
            second.devices.markChanged(ofAccount: "default")
            try await wait { !second.devices.isCurrent(device) }
            #expect(second.devices.isCurrent(other))
            try await wait { notices.withLock { $0 } == 1 }
            #expect(second.devices.generation == generation + 1)
            #expect(try await second.found(token) == .unknown)
        }

        @Test("a device that is renamed on one node has the name everywhere, and keeps what it may do")
        func renaming() async throws {
            let (first, second) = try nodes()
            let (device, token) = try first.storage.add("laptop", DevicePermissions())
            _ = try await second.found(token)
            _ = try first.storage.change(.init("laptop", account: nil)) {
                table throws(ServerError) in
                try table.rename("laptop", account: nil, to: "desk")
            }
            second.devices.markChanged(ofAccount: nil)
            try await wait { second.devices.table.devices.map(\.name) == ["desk"] }
            #expect(second.devices.isCurrent(device))
        }

        @Test("a device without its account is changed only if no other account has its name")
        func selection() throws {
            let (node, _) = try nodes()
            try node.storage.addAccount("work")
            let own = try node.storage.add("laptop", DevicePermissions()).device
            _ = try node.storage.add("laptop", DevicePermissions(account: "work"))
            func trust(_ text: String) throws {
                _ = try node.storage.change(.init(text, account: nil)) {
                    table throws(ServerError) in try table.setTrust(text, account: nil, true)
                }
            }
            #expect(throws: ServerError.self) { try trust("laptop") }
            #expect(throws: ServerError.self) { try trust("none") }
            try trust(own.id)
            let trusted = try node.storage.table(.all).devices.filter(\.isTrusted)
            #expect(trusted.map(\.id) == [own.id])
        }

        @Test("every change is announced with its account and changes the version; others are not")
        func announcements() throws {
            let (node, _) = try nodes()
            let address = node.address
            let listener = try PostgreSQLConnection(address, applicationName: "tests", timeout: DeviceNode.limit)
            try listener.script("LISTEN ubiquity_devices", timeout: DeviceNode.limit)
            func version() throws -> Int64? {
                try node.number("SELECT devices_version FROM ubiquity.meta")
            }
            let start = try #require(try version())
            try node.storage.addAccount("work")
            _ = try node.storage.add("laptop", DevicePermissions(account: "work"))
            #expect(throws: ServerError.self) {
                try node.storage.add("laptop", DevicePermissions(account: "work"))
            }
            _ = try node.storage.change(.account("work")) { _ in }
            #expect(try version() == start + 2)
            let found = try listener.waitForNotifications(timeout: DeviceNode.limit)
            #expect(found.map(\.payload) == ["work", "work"])
        }

        @Test("an unknown token is looked up once for a while, and found as soon as it was added")
        func unknownToken() async throws {
            let (first, second) = try nodes()
            let token = "ubiquity_unknown"
            #expect(try await second.found(token) == .unknown)
            #expect(second.devices.find(TokenDigest(of: token), now: 1) == .unknown)
            let device = Device(
                "laptop", DevicePermissions(), id: DeviceTable.newID(), created: 1, tokenSHA256: TokenDigest(of: token))
            try first.storage.change(.account("default")) { table throws(ServerError) in
                try table.add(device)
            }
            second.devices.markChanged(ofAccount: "default")
            #expect(try await second.found(token) == .device(device))
        }

        @Test("a lookup after the database's connections were closed is made on another one")
        func closedConnection() async throws {
            let (first, second) = try nodes()
            for name in ["laptop", "phone"] {
                let token = try first.storage.add(name, DevicePermissions()).token
                guard case .device = try await second.found(token) else {
                    Issue.record("the token of \(name) is not known")
                    continue
                }
                try first.sql(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                    """)
            }
        }

        @Test("many tokens are looked up together, each as what it is")
        func batches() async throws {
            let (node, _) = try nodes()
            let token = try node.storage.add("laptop", DevicePermissions()).token
            let unknownCount = try await withThrowingTaskGroup(of: FoundDevice.self) { group in
                for number in 0..<3_000 {
                    group.addTask { try await node.found(number == 999 ? token : "\(number)") }
                }
                return try await group.reduce(0) { $0 + ($1 == .unknown ? 1 : 0) }
            }
            #expect(unknownCount == 2_999)
        }

        @Test("a lookup beside the removal of its device leaves nothing behind")
        func race() async throws {
            let (first, second) = try nodes()
            for round in 0..<50 {
                let (device, token) = try first.storage.add("laptop", DevicePermissions())
                async let found = second.found(token)
                // Removed before, while or after it is found.
                if round % 3 == 0 { _ = try await found }
                try remove(device, on: first)
                second.devices.markChanged(ofAccount: "default")
                _ = try await found
                try await wait { !second.devices.isCurrent(device) }
                #expect(try await second.found(token) == .unknown)
            }
        }

        @Test("beyond the limit those that were not seen for longest are forgotten, never connected ones")
        func eviction() {
            var cache = DeviceCache(limit: 4)
            let devices = (0..<6).map {
                Device("\($0)", DevicePermissions(), id: "\($0)", created: 0, tokenSHA256: TokenDigest(of: "\($0)"))
            }
            // The first is connected, and the others were seen in their order.
            for device in devices {
                cache.insert(device) { $0.id == "0" ? nil : Int64($0.id) }
            }
            #expect(Set(cache.devices.values.map(\.id)) == ["0", "3", "4", "5"])
            #expect(cache.tokens(ofAccount: "default").count == 4)
        }

        // MARK: - Requests

        @Test("a stream of a device that is removed on another node ends within a second")
        func stream() async throws {
            let (first, second) = try nodes()
            let (admin, adminToken) = try first.storage.add("admin", DevicePermissions(isAdmin: true))
            let (phone, token) = try first.storage.add("phone", DevicePermissions())
            try await first.served { client, _ in
                try await second.served { secondClient, port in
                    try await secondClient.put(Data("1".utf8), key: "k", token: token)
                    var reader = try await EventReader(port: port, path: "/v1/stores/default/changes", token: token)
                    #expect(await reader.next()?.name == "opened")
                    let start = ContinuousClock.now
                    let answer = try await client.execute(
                        uri: "/v1/devices/\(phone.id)", method: .delete, headers: .token(adminToken)
                    )
                    #expect(answer.status == .noContent, "\(answer.text)")
                    while await reader.next() != nil {}
                    #expect(ContinuousClock.now - start < .seconds(1))
                    let again = try await secondClient.execute(uri: "/v1/me", method: .get, headers: .token(token))
                    #expect(again.status == .unauthorized)
                    let me = try await secondClient.execute(uri: "/v1/me", method: .get, headers: .token(adminToken))
                    #expect(try me.decoded(DaemonIdentity.self).deviceID == admin.id)
                }
            }
        }

        @Test("requests that wait for the same lookup are answered, in order on each connection")
        func pipelining() async throws {
            let (first, _) = try nodes()
            let token = try first.storage.add("laptop", DevicePermissions()).token
            try await first.served { _, port in
                for token in [token, "ubiquity_wrong"] {
                    let connection = try await RawConnection.open(port: port)
                    let fields = "Host: h\r\nAuthorization: Bearer \(token)\r\n"
                    // The peer waits for the answers, and sends nothing more.
                    try await connection.send(
                        "PUT /v1/stores/default/keys/k HTTP/1.1\r\n\(fields)"
                            + "Content-Type: application/octet-stream\r\nContent-Length: 1\r\n\r\n1"
                            + "GET /v1/stores/default/keys/k HTTP/1.1\r\n\(fields)"
                            + "Connection: close\r\n\r\n")
                    try? await connection.channel.close(mode: .output)
                    let text = await connection.rest()
                    let answers = text.split(separator: "HTTP/1.1 ")
                    let isKnown = token != "ubiquity_wrong"
                    #expect(answers.map { $0.hasPrefix("200") } == [isKnown, isKnown], "\(text)")
                }
                #expect(first.server.metrics.counters.failedAuthentications == 2)
            }
        }

        @Test("without the database known devices go on, and others get 503 instead of 401")
        func unreachable() async throws {
            let postgres = try TemporaryPostgreSQL()
            let node = try DeviceNode(postgres.makeDatabase())
            let known = try node.storage.add("laptop", DevicePermissions()).token
            let later = try node.storage.add("phone", DevicePermissions()).token
            try await node.served { client, _ in
                func me(_ token: String) async throws -> TestResponse {
                    try await client.execute(uri: "/v1/me", method: .get, headers: .token(token))
                }
                #expect(try await me(known).status == .ok)
                postgres.stop(immediate: true)
                let refused = try await me(later)
                #expect(refused.problemCode == "database-unavailable")
                #expect(refused.headers[.retryAfter] != nil)
                #expect(try await me(known).status == .ok)
                let list = try await client.execute(uri: "/v1/devices", method: .get, headers: .token(known))
                #expect(list.problemCode == "database-unavailable")
                let leaving = try await client.execute(uri: "/v1/me", method: .delete, headers: .token(known))
                #expect(leaving.problemCode == "database-unavailable")
                try postgres.start()
                try await wait { try await me(later).status == .ok }
                #expect(node.server.metrics.counters.failedAuthentications == 0)
            }
            postgres.stop()
        }

        @Test("a request whose lookup takes too long gets 503, and the next is answered")
        func slow() async throws {
            let node = try DeviceNode(TemporaryPostgreSQL.shared().makeDatabase(), requestMilliseconds: 300)
            let token = try node.storage.add("laptop", DevicePermissions()).token
            let lock = try PostgreSQLConnection(node.address, applicationName: "tests", timeout: DeviceNode.limit)
            try lock.script("BEGIN; LOCK TABLE ubiquity.device IN ACCESS EXCLUSIVE MODE", timeout: DeviceNode.limit)
            try await node.served { client, _ in
                func me() async throws -> TestResponse {
                    try await client.execute(uri: "/v1/me", method: .get, headers: .token(token))
                }
                #expect(try await me().problemCode == "database-unavailable")
                try lock.rollback(timeout: DeviceNode.limit)
                // The answer was the last one of its connection, which may be ending.
                try await wait { (try? await me().status) == .ok }
            }
        }

        // MARK: - Presence

        @Test("a list says which devices are connected to other nodes, as long as those live")
        func presence() async throws {
            let (first, second) = try nodes()
            let (device, token) = try first.storage.add("laptop", DevicePermissions())
            _ = try await first.found(token)
            func isConnected() async throws -> Bool? { try await second.described()[0].connected }
            #expect(try await isConnected() == false)
            var slot = first.devices.openStream(device.id, limit: 1) { 2 }
            #expect(first.devices.openStream(device.id, limit: 1, now: { 2 }) == nil)
            try await wait { try await isConnected() == true }
            #expect(try await second.described()[0].lastSeen == 1)
            try first.recordNode(secondsAgo: 31)
            #expect(try await isConnected() == false)
            try first.recordNode(secondsAgo: 0)
            #expect(try await isConnected() == true)
            #expect(slot != nil)
            slot = nil
            try await wait { try await isConnected() == false }
            #expect(try await second.described()[0].lastSeen == 2)
            await first.devices.close()
            #expect(try second.number("SELECT count(*) FROM ubiquity.presence") == 0)
        }
    }
#endif
