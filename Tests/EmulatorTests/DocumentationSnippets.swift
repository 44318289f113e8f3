import Foundation
import KVStore
import KVStoreEmulator
import KVStoreHTTP
import KVStoreServer
import ServerTestSupport
import StoreTestSupport
import Testing

@Suite("Snippets: servers, and stores that reach them", .timeLimit(.minutes(5)))
struct ServerSnippets {
    private let print = PrintedLines()

    @Test("a server in the process of a test has a port and devices")
    func server() async throws {
        func test(_ url: String, _ token: String) async throws {
            let client = DaemonClient(address: try DaemonAddress(url), token: try #require(AccessToken(token)))
            defer { client.close() }
            print(try await client.me().device)
        }
        let server = try StoreServer()  // in a temporary directory, on any free port
        async let running: Void = server.run()
        let token = try server.addDevice("laptop")
        try await test("http://127.0.0.1:\(server.port)", token)
        await server.stop()
        try await running
        #expect(print.lines == ["laptop"])
    }

    @Test("a server has a configuration, and no other one has its directory")
    func configuration() async throws {
        func listen() {
            guard let address = ListenAddress("[::1]:8722") else { return }
            print(address.host, address.isLoopback, address.url())  // ::1 true http://[::1]:8722
        }
        listen()
        try await TemporaryDirectory.use { directory in
            var configuration = ServerConfiguration(storage: .directory(directory), encryption: .ownCertificate)
            configuration.limits.requestsPerSecond = 10
            let server = try StoreServer(configuration)
            print(server.isEncrypted)  // true
            do throws(ServerError) {
                try await StoreServer(configuration).run()
            } catch {
                print(error.code == .inUse ? "another server uses the directory" : error.description)
            }
            await server.stop()
            try await server.run()
        }
        #expect(print.lines == ["::1 true http://[::1]:8722", "true", "another server uses the directory"])
    }

    @Test("an emulator is reached as a device of a world, and has a page")
    func emulator() async throws {
        try await TemporaryDirectory.use { directory in
            try await Emulator.run { emulator in
                let variables = emulator.environment(world: "settings", device: "phone")
                let environment = StoreEnvironment(home: directory, variables: variables)
                let phone = try UbiquitousKeyValueStore.open(environment: environment)
                phone.set("dark", forKey: "theme")
                print(try await phone.synchronizeNow().pendingKeyCount)  // 0
                phone.close()
            }
        }
        var limits = EmulatorLimits()
        limits.worldCount = 16
        try await Emulator.run(limits: limits) { emulator in print(emulator.pageURL) }
        #expect(print.lines.count == 2 && print.lines[0] == "0" && print.lines[1].hasPrefix("http://127.0.0.1:"))
    }

    @Test("a device pairs, takes its local stores along and syncs them")
    func pairing() async throws {
        let directory = try TemporaryDirectory()
        let home = directory.path
        let environment = StoreEnvironment(home: home)
        do {
            let environment = StoreEnvironment(home: home)  // without arguments this user's own
            let store = try UbiquitousKeyValueStore.open(storeNamed: "notes", environment: environment)
            print(environment.isJoined, store.configuration.directory)
            #expect(print.lines == ["false \(home)/.local/share/ubiquity/replicas/local/notes"])
            store.set("milk", forKey: "list")
            store.close()
        }
        let server = try StoreServer()
        try await TestClient.served(
            by: { try await server.run() }, port: { try await server.port }, stop: { await server.stop() }
        ) { _, port in
            let text = try #require(server.status(processID: 1, port: port)?.line?.text)
            guard let line = PairingLine(text) else { return }
            let address = try DaemonAddress(line.url)
            let paired = try await DaemonClient(pairingWith: address, key: line.key).pair(line.code, name: "laptop")
            let credentials = try Credentials(
                daemon: address, token: paired.token, key: line.key, account: paired.account, deviceID: paired.id,
                deviceName: paired.name)
            let adoption = LocalReplicaAdoption.adopt(in: environment, credentials: credentials)
            for (name, reason) in adoption.failed { print("\(name): \(reason)") }
            #expect(adoption.moved == ["notes"])
            try environment.credentialsFile.write(credentials)
            #expect(try environment.credentials() == credentials)
            try await sync(environment, in: directory.file("replica"))
            try await ask(environment)
            let timeouts = HTTPTimeouts(connect: .seconds(2), request: .seconds(10))
            let client = DaemonClient(credentials, timeouts: timeouts)
            defer { client.close() }
            #expect(Set(try await client.stores()) == ["default", "notes"])
        }
        #expect(print.lines.dropFirst() == ["laptop true", "laptop"])
    }

    /// Sends what the device has brought along, and a value of another store.
    private func sync(_ environment: StoreEnvironment, in directory: String) async throws {
        let notes = try UbiquitousKeyValueStore.open(storeNamed: "notes", environment: environment)
        defer { notes.close() }
        #expect(try await notes.synchronizeNow().pendingKeyCount == 0)
        guard let credentials = try environment.credentials() else { return }
        let transport = HTTPSyncTransport(credentials)
        let store = try UbiquitousKeyValueStore(
            configuration: StoreConfiguration(directory: directory, transport: transport))
        defer { store.close() }
        store.set("dark", forKey: "theme")
        #expect(try await store.synchronizeNow().pendingKeyCount == 0)
    }

    private func ask(_ environment: StoreEnvironment) async throws {
        do {
            guard let credentials = try environment.credentials() else { return }
            let client = DaemonClient(credentials)
            defer { client.close() }
            let own = try await client.me()
            for device in try await client.devices() { print(device.device, device.deviceID == own.deviceID) }
        }
        let credentials = try environment.credentialsFile.read()  // nil: no account has been joined
        print(credentials?.deviceName ?? "none")
    }
}
