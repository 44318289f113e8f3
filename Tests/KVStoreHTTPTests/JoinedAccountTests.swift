import Foundation
import KVStore
import KVStoreEssentials
import LocalFiles
import StoreTestSupport
import Testing

@testable import KVStoreHTTP

@Suite("Changes of the account while a store is open", .timeLimit(.minutes(5)))
struct JoinedAccountTests {
    private func credentials(account: String) throws -> Credentials {
        try Credentials(
            daemon: DaemonAddress("http://127.0.0.1:1"), token: #require(AccessToken("t0ken")),
            account: account, deviceID: "dev-1", deviceName: "desk")
    }

    @Test("a store belongs to the credentials that open it, whichever account is joined")
    func givenCredentials() throws {
        try TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            let one = try credentials(account: "one")
            try environment.credentialsFile.write(one)
            let read = try environment.credentials()
            try environment.credentialsFile.write(credentials(account: "two"))
            let joined = environment.configuration(of: read, storeNamed: "s")
            #expect(joined.directory == environment.replicaDirectory(storeNamed: "s", credentials: one))
            #expect(joined.transport != nil)
            let local = environment.configuration(of: nil, storeNamed: "s")
            #expect(local.directory.hasSuffix("/replicas/local/s") && local.transport == nil)
        }
    }

    /// A live store without a daemon's answer, and what its connection was after each change.
    private func withStore(
        _ body: (
            StoreEnvironment, UbiquitousKeyValueStore,
            inout AsyncStream<StoreStatus.Connection>.Iterator
        ) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            let store = try UbiquitousKeyValueStore.open(environment: environment)
            defer { store.close() }
            var connections = store.connectionChanges.makeAsyncIterator()
            #expect(await connections.next() == .local)
            try await body(environment, store, &connections)
        }
    }

    @Test("an open store follows joining, another account and leaving")
    func following() async throws {
        try await withStore { environment, store, connections in
            store.set("here", forKey: "k")
            for account in ["one", "two"] {
                let joined = try credentials(account: account)
                try environment.credentialsFile.write(joined)
                while store.configuration.credentials != joined { _ = await connections.next() }
                #expect(
                    store.configuration.directory
                        == environment.replicaDirectory(storeNamed: "default", credentials: joined))
                #expect(store.keys == (account == "one" ? ["k"] : []))
            }
            try environment.credentialsFile.remove()
            while await connections.next() != .local {}
            #expect(store.configuration.credentials == nil && store.keys == ["k"])
        }
    }

    @Test("a directory that was removed or replaced is watched again")
    func replacedFolder() async throws {
        try await withStore { environment, store, connections in
            let one = try credentials(account: "one")
            try environment.credentialsFile.write(one)
            while store.configuration.credentials != one { _ = await connections.next() }
            try FileManager.default.removeItem(atPath: environment.configDirectory)
            while await connections.next() != .local {}
            try environment.credentialsFile.write(one)
            while store.configuration.credentials != one { _ = await connections.next() }
            let other = StoreEnvironment(home: environment.configDirectory + "-other")
            try other.credentialsFile.write(one)
            #expect(rename(environment.configDirectory, other.configDirectory + "-former") == 0)
            #expect(rename(other.configDirectory, environment.configDirectory) == 0)
            let two = try credentials(account: "two")
            try environment.credentialsFile.write(two)
            while store.configuration.credentials != two { _ = await connections.next() }
        }
    }

    @Test("a file that cannot be read is not another account, and is one as soon as it can be")
    func unusable() async throws {
        try await withStore { environment, store, connections in
            let one = try credentials(account: "one")
            let file = environment.credentialsFile.path
            // The watch creates it too, but some time later.
            try LocalFile(file).directory.create()
            for text in ["{", ""] { try LocalFile(file).replace(with: Data(text.utf8)) }
            #expect(store.configuration.credentials == nil)
            try environment.credentialsFile.write(one)
            while store.configuration.credentials != one { _ = await connections.next() }
            let two = try credentials(account: "two")
            let open = CredentialsFile(path: environment.dataDirectory + "/open.json")
            try open.write(two)
            #expect(chmod(open.path, 0o644) == 0 && rename(open.path, file) == 0)
            #expect(store.configuration.credentials == one)
            #expect(chmod(file, 0o600) == 0)
            while store.configuration.credentials != two { _ = await connections.next() }
        }
    }

    @Test("a wait for another account ends when it is joined or left, also if that was before")
    func waiting() async throws {
        try await TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            let one = try credentials(account: "one")
            await environment.waitForAnotherAccount(than: one)
            async let joined: Void = environment.waitForAnotherAccount(than: nil)
            try environment.credentialsFile.write(one)
            await joined
            let waiting = Task { await environment.waitForAnotherAccount(than: one) }
            waiting.cancel()
            await waiting.value
        }
    }

    @Test("a store whose device the environment names, and one that is not live, follow nothing")
    func named() throws {
        try TemporaryDirectory.use { directory in
            var environment = StoreEnvironment(home: directory)
            let live = try environment.configuration()
            let other = try environment.configuration(isLive: false)
            environment.variables["UBIQUITY_DAEMON"] = "http://127.0.0.1:1"
            environment.variables["UBIQUITY_TOKEN"] = "ubq_" + "t0ken"
            let named = try environment.configuration()
            #expect([live, other, named].map { $0.watchAccount != nil } == [true, false, false])
        }
    }
}
