import Foundation
import HTTPTypes
import KVStore
import KVStoreEssentials
import KVStoreHTTP
import KVStoreEmulator
import KVStoreServer
import ServerTestSupport
import Testing

/// Real stores of a device that the emulator signs out, and in to other accounts.
@Suite("Accounts of a device", .timeLimit(.minutes(2)))
struct AccountTests {
    private let home = NSTemporaryDirectory() + "emulator-" + UUID().uuidString

    private func open(_ emulator: RunningEmulator, isLive: Bool = true) throws -> UbiquitousKeyValueStore {
        try .open(
            isLive: isLive,
            environment: StoreEnvironment(home: home, variables: emulator.environment(world: "w", device: "phone")))
    }

    private func keys(of account: String, _ client: EmulatorClient) async throws -> String {
        try await client.administer(.get, "/worlds/w/stores/default?account=\(account)").text
    }

    private func run(_ body: (EmulatorClient) async throws -> Void) async throws {
        defer { try? FileManager.default.removeItem(atPath: home) }
        try await EmulatorClient.run(body)
    }

    @Test("an open store is notified of an account change and has the values of the other account")
    func change() async throws {
        try await run { client in
            try await client.write("green")
            try await client.write("red", of: "B")
            let store = try open(client.emulator)
            defer { store.close() }
            let changes = store.changes
            _ = try await store.synchronizeNow()
            #expect(store.string(forKey: "color") == "green")
            let directory = store.configuration.directory

            try await client.signIn("B")
            #expect(await changes.next(.accountChange) == ["color"])
            #expect(store.configuration.directory != directory)
            #expect(await changes.next(.initialSyncChange) == ["color"])
            #expect(store.string(forKey: "color") == "red")

            try await client.signIn("default")
            #expect(await changes.next(.accountChange) == ["color"])
            #expect(store.string(forKey: "color") == "green")
            #expect(store.configuration.directory == directory)
        }
    }

    @Test("what a device has not sent stays with its account")
    func unsent() async throws {
        try await run { client in
            let store = try open(client.emulator)
            defer { store.close() }
            let changes = store.changes
            _ = try await store.synchronizeNow()
            try await client.disconnect()
            store.set("mine", forKey: "owner")
            try await client.signIn("B")
            #expect(await changes.next(.accountChange) == ["owner"])
            let removal = try await client.administer(.delete, "/worlds/w/devices/phone/faults")
            try #require(removal.status == .noContent)
            _ = try await store.synchronizeNow()
            #expect(store.keys.isEmpty)
            #expect(try await !keys(of: "B", client).contains("owner"))

            try await client.signIn("default")
            #expect(await changes.next(.accountChange) == ["owner"])
            _ = try await store.synchronizeNow()
            #expect(try await keys(of: "default", client).contains("mine"))
        }
    }

    @Test("a device that signs out keeps none of the account's values and brings its own to the next")
    func signOut() async throws {
        try await run { client in
            try await client.write("green")
            let store = try open(client.emulator)
            defer { store.close() }
            let changes = store.changes
            _ = try await store.synchronizeNow()

            try await client.signIn(nil)
            #expect(await changes.next(.accountChange) == ["color"])
            #expect(store.keys.isEmpty)
            await #expect(throws: StoreError.self) { try await store.synchronizeNow() }
            store.set("written while signed out", forKey: "note")
            try await client.signIn("B")
            _ = try await store.synchronizeNow()
            #expect(try await keys(of: "B", client).contains("written while signed out"))
            #expect(store.keys == ["note"])
        }
    }

    @Test("what was written while signed out goes to one account, and does not come back there")
    func movedOnce() async throws {
        try await run { client in
            let store = try open(client.emulator)
            defer { store.close() }
            _ = try await store.synchronizeNow()
            func switchAccount(_ account: String?) async throws {
                let directory = store.configuration.directory
                try await client.signIn(account)
                // The request is refused until the store has changed its account.
                while store.configuration.directory == directory {
                    _ = try? await store.synchronizeNow()
                }
            }
            try await switchAccount(nil)
            store.set("x", forKey: "note")
            try await switchAccount("B")
            #expect(store.string(forKey: "note") == "x")
            store.removeObject(forKey: "note")
            _ = try await store.synchronizeNow()
            try await switchAccount(nil)
            #expect(store.keys.isEmpty)
            try await switchAccount("B")
            #expect(store.keys.isEmpty)
            try await switchAccount("C")
            #expect(store.keys.isEmpty)
        }
    }

    @Test("values that the next account has no space for stay behind, and the account changes")
    func noSpace() async throws {
        try await run { client in
            let store = try open(client.emulator)
            defer { store.close() }
            let changes = store.changes
            let size = StoreLimits().totalByteCount * 3 / 4
            store.set(Data(count: size), forKey: "large")
            _ = try await store.synchronizeNow()
            try await client.signIn(nil)
            #expect(await changes.next(.accountChange) == ["large"])
            store.set(Data(count: size), forKey: "another")
            try await client.signIn("default")
            #expect(await changes.next(.accountChange) == ["another", "large"])
            #expect(store.keys == ["large"])
            try await client.signIn(nil)
            #expect(await changes.next(.accountChange) == ["another", "large"])
            #expect(store.keys == ["another"])
        }
    }

    @Test("a store of 1,500 keys has none of them in another account, and all of them again after it")
    func manyKeys() async throws {
        try await run { client in
            let store = try UbiquitousKeyValueStore.open(
                environment: StoreEnvironment(
                    home: home, variables: client.emulator.environment(world: "w", device: "phone")),
                limits: StoreLimits(keyCount: 2_000))
            defer { store.close() }
            let changes = store.changes
            let settings = try await client.administer(
                .put, "/worlds/w/settings", body: #"{"quota":{"profile":"daemon"}}"#)
            try #require(settings.status == .ok, "\(settings.text)")
            for index in 0..<1_500 { store.set(index, forKey: "key \(index)") }
            _ = try await store.synchronizeNow()
            try await client.signIn("B")
            #expect(await changes.next(.accountChange)?.isEmpty == false)
            _ = try await store.synchronizeNow()
            #expect(store.keys.isEmpty)
            #expect(try await keys(of: "B", client) == #"{"keys":[],"store":"default"}"#)
            try await client.signIn("default")
            #expect(await changes.next(.accountChange)?.isEmpty == false)
            #expect(store.keys.count == 1_500)
        }
    }

    @Test("a program that starts later, even without the emulator, has the account of the device")
    func nextStart() async throws {
        try await run { client in
            try await client.write("green")
            try await client.write("red", of: "B")
            do {
                let store = try open(client.emulator, isLive: false)
                defer { store.close() }
                _ = try await store.synchronizeNow()
                try await client.signIn("B")
                _ = try await store.synchronizeNow()
                #expect(store.string(forKey: "color") == "red")
            }
            let emulator = client.emulator
            try await client.disconnect()
            let store = try open(emulator)
            defer { store.close() }
            #expect(store.string(forKey: "color") == "red")
        }
    }

    @Test("a program that starts once a store has changed to another account begins with it")
    func nextProgram() async throws {
        try await run { client in
            let variables = client.emulator.environment(world: "w", device: "phone")
            let environment = StoreEnvironment(home: home, variables: variables)
            var configuration = try environment.configuration(isLive: false)
            let watchAccount = try #require(configuration.watchAccount)
            let (comparisons, continuation) = AsyncStream<Bool>.makeStream()
            configuration.watchAccount = { change in
                watchAccount { next in
                    let outcome = change(next)
                    let present = try? environment.configuration()  // nil is another directory
                    continuation.yield(present?.directory == next.directory)
                    return outcome
                }
            }
            let store = try UbiquitousKeyValueStore(configuration: configuration)
            defer { store.close() }
            try await client.signIn("B")
            _ = try await store.synchronizeNow()
            #expect(await comparisons.first { _ in true } == true)
        }
    }

    @Test("a reset of the world signs its devices in to the first account again")
    func reset() async throws {
        try await run { client in
            try await client.signIn("B")
            try await client.write("red", of: "B")
            let store = try open(client.emulator)
            defer { store.close() }
            let changes = store.changes
            #expect(await changes.next(.initialSyncChange) == ["color"])
            let removal = try await client.administer(.delete, "/worlds/w")
            try #require(removal.status == .noContent)
            while !store.keys.isEmpty { _ = await changes.first { _ in true } }
            try await client.write("green")
            while store.string(forKey: "color") != "green" {
                _ = await changes.first { _ in true }
            }
        }
    }
}
