import Foundation
import HTTPTypes
import KVStore
import KVStoreCore
import KVStoreHTTP
import KVStoreEmulator
import KVStoreServer
import ServerTestSupport
import Testing

/// The four reasons of a change notification, brought about through the emulator. `docs/emulator.md` says how.
@Suite("Reasons of changes on demand", .timeLimit(.minutes(2)))
struct ReasonTests {
    private let home = NSTemporaryDirectory() + "emulator-" + UUID().uuidString

    private func environment(_ client: EmulatorClient, _ world: String) -> StoreEnvironment {
        StoreEnvironment(home: home, variables: client.emulator.environment(world: world, device: "phone"))
    }

    @Test("a first download, a change by the server, a quota and another account are notified as such")
    func reasons() async throws {
        defer { try? FileManager.default.removeItem(atPath: home) }
        try await EmulatorClient.run { client in
            try await client.write("green")
            let store = try UbiquitousKeyValueStore.open(environment: environment(client, "w"))
            defer { store.close() }
            let changes = store.changes
            #expect(await changes.next(.initialSyncChange) == ["color"])
            try await client.write("red")
            #expect(await changes.next(.serverChange) == ["color"])
            let settings = try await client.administer(
                .put, "/worlds/w/settings", body: #"{"quota":{"profile":"standard","totalByteCount":4}}"#)
            try #require(settings.status == .ok, "\(settings.text)")
            store.set("too long", forKey: "size")
            #expect(await changes.next(.quotaViolationChange) == ["size"])
            try await client.signIn("B")
            #expect(await changes.next(.accountChange)?.contains("color") == true)
            #expect(store.string(forKey: "color") == nil)
        }
    }

    @Test("the changes of one sync are one notification of a live store, also if they are large")
    func together() async throws {
        defer { try? FileManager.default.removeItem(atPath: home) }
        try await EmulatorClient.run { client in
            try await client.write("green")
            let store = try UbiquitousKeyValueStore.open(environment: environment(client, "w"))
            defer { store.close() }
            for await connection in store.connectionChanges where connection == .connected { break }
            let (posted, posting) = AsyncStream.makeStream(of: [String].self)
            let token = NotificationCenter.default.addObserver(
                forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: store,
                queue: nil
            ) { note in
                posting.yield(note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String] ?? [])
            }
            defer { NotificationCenter.default.removeObserver(token) }
            let value = PropertyListValue.data(Data(count: 40_000)).encoded()
            let keys = (0..<10).map { "key \($0)" }
            try await client.sync(
                keys.map { StoreRecord(key: StoreKey($0), stamp: Samples.stamp(), content: .value(value)) },
                store: "default", token: "w/desk")
            #expect(await posted.first { $0 != ["color"] }?.sorted() == keys)
        }
    }

    @Test("a client that does not name its account downloads the values of another one in full")
    func account() async throws {
        defer { try? FileManager.default.removeItem(atPath: home) }
        try await EmulatorClient.run { client in
            try await client.write("green")
            let transport = HTTPSyncTransport(
                address: try DaemonAddress(client.emulator.url), token: try #require(AccessToken("w/phone")))
            let store = try UbiquitousKeyValueStore(
                configuration: StoreConfiguration(directory: home + "/store", transport: transport, isLive: false))
            defer { store.close() }
            _ = try await store.synchronizeNow()
            #expect(store.string(forKey: "color") == "green")
            try await client.signIn(nil)
            await #expect(throws: (any Error).self) { try await store.synchronizeNow() }
            #expect(store.string(forKey: "color") == "green")
            try await client.signIn("B")
            _ = try await store.synchronizeNow()
            #expect(store.string(forKey: "color") == nil)
            let ofB = try await client.administer(.get, "/worlds/w/stores/default?account=B")
            #expect(ofB.text == #"{"keys":[],"store":"default"}"#)
            store.set("B", forKey: "owner")
            _ = try await store.synchronizeNow()
            try await client.signIn("default")
            _ = try await store.synchronizeNow()
            #expect(store.string(forKey: "color") == "green")
            #expect(store.string(forKey: "owner") == nil)
        }
    }
}
