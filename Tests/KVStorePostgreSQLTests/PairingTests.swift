#if PostgreSQL
    import Dispatch
    import Essentials
    import HTTPTypes
    import KVStoreWire
    import Logging
    import NIOCore
    import ServerTestSupport
    import Synchronization
    import StoreTestSupport
    import Testing

    @testable import KVStorePostgreSQL
    @testable import KVStoreServer

    @Suite(
        "Pairing codes of a database", .timeLimit(.minutes(2)),
        .enabled(if: TemporaryPostgreSQL.missing == nil, "PostgreSQL is not on this machine"))
    struct PairingTests {
        private let nodes: [DeviceNode]
        private let registries: [PairingRegistry]
        private static let now: Int64 = 1_789_732_800_000

        init() throws {
            let address = try TemporaryPostgreSQL.shared().makeDatabase()
            nodes = try (0..<2).map { _ in try DeviceNode(address) }
            registries = nodes.map {
                PairingRegistry($0.storage, logger: Logger(label: "test"), now: { Self.now })
            }
        }

        private func pair(_ code: String, on node: Int, as name: String = "tablet") -> Result<PairingAnswer, Problem> {
            Result { () throws(Problem) in
                try registries[node].pair(PairingRequest(code: code, device: name), isPage: false)
            }
        }

        private func problem(_ code: String, on node: Int) -> String? {
            if case .failure(let problem) = pair(code, on: node) { problem.code } else { nil }
        }

        @Test("a code that is redeemed on two nodes at once adds one device")
        func once() throws {
            for round in 1...10 {
                let code = try nodes[round % 2].storage.addPairing(
                    name: nil, DevicePermissions(stores: ["s"]), now: Self.now)
                let results = Mutex<[Result<PairingAnswer, Problem>]>([])
                DispatchQueue.concurrentPerform(iterations: 2) { node in
                    let result = pair(code.text, on: node)
                    results.withLock { $0.append(result) }
                }
                let found = results.withLock { $0 }
                #expect(found.count { (try? $0.get()) != nil } == 1)
                #expect(
                    found.contains {
                        if case .failure(let problem) = $0 {
                            problem.code == "used-code"
                        } else {
                            false
                        }
                    }, "\(found)")
                #expect(try nodes[0].storage.table(.all).devices.count == round)
            }
        }

        @Test("a code that an administrator makes over one node joins a device or a page over another")
        func requests() async throws {
            let admin = try nodes[0].storage.add("admin", DevicePermissions(isAdmin: true)).token
            let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
            try await nodes[0].served { [second = nodes[1]] client, _ in
                try await second.served { secondClient, _ in
                    func code(_ body: String) async throws -> String {
                        let answer = try await client.execute(
                            uri: "/v1/pairings", method: .post, headers: .token(admin), body: ByteBuffer(string: body))
                        return try answer.decoded(PairingCodeAnswer.self).code
                    }
                    let made = try await code(#"{"name": "tablet", "stores": ["s"]}"#)
                    let paired = try await secondClient.execute(
                        uri: "/v1/pair", method: .post, body: ByteBuffer(string: #"{"code": "\#(made)"}"#))
                    let tablet = try paired.decoded(PairingAnswer.self)
                    #expect(tablet.device == "tablet" && tablet.stores == ["s"])
                    let pageCode = try await code(#"{"page": true}"#)
                    let page = try await secondClient.execute(
                        uri: "/v1/session", method: .post, headers: [site: "same-origin"],
                        body: ByteBuffer(string: #"{"code": "\#(pageCode)"}"#))
                    #expect(page.status == .ok && page.headers[.setCookie] != nil)
                    let list = try await client.execute(uri: "/v1/devices", method: .get, headers: .token(tablet.token))
                    #expect(try list.decoded(DeviceList.self).devices.map(\.device) == ["admin", "tablet", "device"])
                    let renamed = try await client.execute(
                        uri: "/v1/devices/\(tablet.deviceID)", method: .patch,
                        headers: .token(admin), body: ByteBuffer(string: #"{"name": "desk"}"#))
                    #expect(try renamed.decoded(DaemonDevice.self).device == "desk")
                    let left = try await secondClient.execute(
                        uri: "/v1/me", method: .delete, headers: .token(tablet.token))
                    #expect(left.status == .noContent)
                    try await wait {
                        try await client.execute(
                            uri: "/v1/me", method: .get, headers: .token(tablet.token)
                        ).status == .unauthorized
                    }
                }
            }
        }

        @Test("wrong codes are counted on all nodes together")
        func guesses() throws {
            let code = try nodes[0].storage.addPairing(name: nil, .init(), now: Self.now)
            let bystander = try nodes[0].storage.addPairing(name: nil, .init(), now: Self.now)
            let wrong = code.id + String(repeating: "A", count: 22)
            for guess in 0..<10 { #expect(problem(wrong, on: guess % 2) == "wrong-code") }
            #expect(problem(code.text, on: 0) == "void-code")
            #expect(problem(code.text, on: 1) == "void-code")
            #expect(problem(bystander.text, on: 1) == nil)
        }

        @Test("a code ends with the device that made it")
        func withdrawal() throws {
            let maker = try nodes[0].storage.add("admin", DevicePermissions(isAdmin: true)).device
            let code = try nodes[0].storage.addPairing(name: nil, .init(), maker: maker.id, now: Self.now)
            _ = try nodes[1].devices.change(.account("default")) { table throws(ServerError) in
                try table.remove("admin", account: nil)
            }
            #expect(problem(code.text, on: 0) == "void-code")
        }

        @Test("a device may have as many codes open as with files, and no other loses its own")
        func count() throws {
            for _ in 0..<PairingTable.countPerMaker {
                _ = try nodes[0].storage.addPairing(name: nil, .init(), maker: "1", now: Self.now)
            }
            #expect(throws: ServerError.self) {
                try nodes[1].storage.addPairing(name: nil, .init(), maker: "1", now: Self.now)
            }
            _ = try nodes[1].storage.addPairing(name: nil, .init(), maker: "2", now: Self.now)
        }
    }
#endif
