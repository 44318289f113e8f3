import Foundation
import KVStoreEssentials
import KVStoreWire
@testable import KVStoreHTTP
import Synchronization
import StoreTestSupport
import Testing

@Suite("The devices of the joined account", .timeLimit(.minutes(5)))
struct AccountDevicesTests {
    private func credentials(
        _ address: String, token: String = "t0ken", name: String = "desk"
    ) throws -> Credentials {
        try Credentials(
            daemon: DaemonAddress(address), token: #require(AccessToken(token)), account: "a",
            deviceID: "d1", deviceName: name)
    }

    @Test("a device's last time is by this machine's clock, whatever the daemon's clock is")
    func clocks() async throws {
        try await TemporaryDirectory.use { directory in
            let server = try await ScriptedServer { _ in
                ScriptedServer.answer(
                    "200 OK",
                    body: """
                        {"devices":[{"deviceID":"d2","device":"phone","scopes":[],"created":3,
                        "lastSeen":940000,"connected":false}],"serverTime":1000000}
                        """)
            }
            let credentials = try credentials(server.address)
            let devices = AccountDevices(environment: StoreEnvironment(home: directory), credentials)
            #expect(devices.lastAnswer == nil)
            let client = DaemonClient(credentials)
            let answer = try await devices.ask(client)
            let seen = try #require(answer.devices[0].lastSeen)
            let received = Int64(answer.received.timeIntervalSince1970 * 1_000)
            #expect(abs(received - seen - 60_000) <= 1, "\(received) \(seen)")
            #expect(devices.lastAnswer == answer)
            await server.stop()
            client.close()
            await #expect(throws: SyncTransportError.self) { try await devices.ask(client) }
            #expect(devices.lastAnswer == answer)
        }
    }

    /// What the credentials file says after a sync whose answer names the device.
    private func name(
        answered: String, in environment: StoreEnvironment, fileToken: String = "t0ken"
    ) async throws -> String? {
        let server = try await ScriptedServer { _ in
            ScriptedServer.answer(
                "200 OK", headers: ["Ubiquity-Device: \(answered)"],
                body: """
                    {"epoch":"0000000000000001","cursor":0,"serverTime":5,"initial":true,"horizon":0,
                    "more":false,"lineage":[],"changes":[],"rejected":[]}
                    """)
        }
        let credentials = try credentials(server.address)
        let configuration = environment.configuration(of: credentials, isLive: false)
        try environment.credentialsFile.write(self.credentials(server.address, token: fileToken))
        let store = try UbiquitousKeyValueStore(configuration: configuration)
        defer { store.close() }
        try await store.synchronizeNow(within: .seconds(60))
        await server.stop()
        return try environment.credentialsFile.read()?.deviceName
    }

    @Test("a sync brings the device's name, and no invalid one")
    func names() async throws {
        try await TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            let named = try await name(answered: "desk%20%C3%BC", in: environment)
            #expect(named == "desk ü")
            for invalid in ["", "%0A", "%", "%FF", String(repeating: "x", count: 257)] {
                let kept = try await name(answered: invalid, in: environment)
                #expect(kept == "desk", "\(invalid)")
            }
        }
    }

    @Test("a device that has left, or that another one has replaced, is not named")
    func replaced() async throws {
        try await TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            let kept = try await name(answered: "phone", in: environment, fileToken: "0ther")
            #expect(kept == "desk")
            let own = try credentials("http://127.0.0.1:1")
            try environment.credentialsFile.remove()
            try environment.credentialsFile.renameDevice(of: own, to: "phone")
            #expect(try environment.credentialsFile.read() == nil)
        }
    }

    @Test("another name of the device is not another account, but another token is")
    func notAnotherAccount() async throws {
        try await TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            let desk = try credentials("http://127.0.0.1:1")
            let (renamed, other) = (
                try desk.renamed(to: "phone"),
                try credentials("http://127.0.0.1:1", token: "0ther")
            )
            #expect(desk.isSameDevice(as: renamed) && !desk.isSameDevice(as: other))
            try environment.credentialsFile.write(renamed)
            let (changes, change) = AsyncStream.makeStream(of: Credentials?.self)
            let watch = CredentialsWatch(environment, since: desk) {
                change.yield($0)
                return true
            }
            try environment.credentialsFile.write(other)
            var iterator = changes.makeAsyncIterator()
            #expect(await iterator.next() == other)
            withExtendedLifetime(watch) {}
        }
    }

    @Test("an account change that could not be followed is tried again, without another change of the file")
    func refusedChange() async throws {
        try await TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            let desk = try credentials("http://127.0.0.1:1")
            try environment.credentialsFile.write(desk)
            let (changes, change) = AsyncStream.makeStream(of: Credentials?.self)
            let count = Mutex(0)
            let watch = CredentialsWatch(environment, since: nil, retry: .milliseconds(1)) {
                change.yield($0)
                return count.withLock { count in
                    count += 1
                    return count == 3
                }
            }
            var iterator = changes.makeAsyncIterator()
            for _ in 0..<3 { #expect(await iterator.next() == desk) }
            withExtendedLifetime(watch) {}
        }
    }
}
