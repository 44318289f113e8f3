import Foundation
import HTTPTypes
import KVStore
import KVStoreHTTP
import KVStoreServer
import ServerTestSupport
import Testing

/// The four reasons of a change notification, brought about through the emulator. `docs/emulator.md` says how.
@Suite("Reasons of changes on demand", .timeLimit(.minutes(2)))
struct ReasonTests {
    private let home = NSTemporaryDirectory() + "emulator-" + UUID().uuidString

    private func environment(_ client: EmulatorClient, _ world: String) -> StoreEnvironment {
        StoreEnvironment(
            home: home, variables: client.emulator.environment(world: world, device: "phone"))
    }

    /// The next notification with this reason.
    private func next(
        _ reason: StoreChangeReason, of changes: AsyncStream<StoreChange>
    ) async -> [String]? {
        for await change in changes where change.reason == reason { return change.keys }
        return nil
    }

    private func write(_ value: String, _ client: EmulatorClient) async throws {
        let answer = try await client.administer(
            .put, "/worlds/w/stores/default/keys/color",
            body: #"{"type":"string","value":"\#(value)"}"#)
        try #require(answer.status == .ok, "\(answer.text)")
    }

    @Test(
        "a first download, a change by the server, a quota and another account are notified as such"
    )
    func reasons() async throws {
        defer { try? FileManager.default.removeItem(atPath: home) }
        try await EmulatorClient.run { client in
            try await write("green", client)
            let store = try UbiquitousKeyValueStore.open(environment: environment(client, "w"))
            defer { store.close() }
            let changes = store.changes
            #expect(await next(.initialSyncChange, of: changes) == ["color"])
            try await write("red", client)
            #expect(await next(.serverChange, of: changes) == ["color"])
            let settings = try await client.administer(
                .put, "/worlds/w/settings",
                body: #"{"quota":{"profile":"standard","totalByteCount":4}}"#)
            try #require(settings.status == .ok, "\(settings.text)")
            store.set("too long", forKey: "size")
            #expect(await next(.quotaViolationChange, of: changes) == ["size"])
            let account = try await client.administer(
                .put, "/worlds/w/devices/phone/account", body: #"{"account":"B"}"#)
            try #require(account.status == .ok, "\(account.text)")
            #expect(await next(.accountChange, of: changes)?.contains("color") == true)
            #expect(store.string(forKey: "color") == nil)
        }
    }

    @Test("a client that does not name its account downloads the values of another one in full")
    func account() async throws {
        defer { try? FileManager.default.removeItem(atPath: home) }
        try await EmulatorClient.run { client in
            try await write("green", client)
            let transport = HTTPSyncTransport(
                address: try DaemonAddress(client.emulator.url),
                token: try #require(AccessToken("w/phone")))
            let store = try UbiquitousKeyValueStore(
                configuration: StoreConfiguration(
                    directory: home + "/store", transport: transport, isLive: false))
            defer { store.close() }
            _ = try await store.synchronizeNow()
            #expect(store.string(forKey: "color") == "green")
            func signIn(_ account: String) async throws {
                let answer = try await client.administer(
                    .put, "/worlds/w/devices/phone/account", body: #"{"account":\#(account)}"#)
                try #require(answer.status == .ok, "\(answer.text)")
            }
            try await signIn("null")
            await #expect(throws: (any Error).self) { try await store.synchronizeNow() }
            #expect(store.string(forKey: "color") == "green")
            try await signIn(#""B""#)
            _ = try await store.synchronizeNow()
            #expect(store.string(forKey: "color") == nil)
            let ofB = try await client.administer(
                .get, "/worlds/w/stores/default?account=B")
            #expect(ofB.text == #"{"keys":[],"store":"default"}"#)
            store.set("B", forKey: "owner")
            _ = try await store.synchronizeNow()
            try await signIn(#""default""#)
            _ = try await store.synchronizeNow()
            #expect(store.string(forKey: "color") == "green")
            #expect(store.string(forKey: "owner") == nil)
        }
    }
}
