import Foundation
import KVStore
import LocalFiles
import StoreTestSupport
import Testing

@testable import KVStoreHTTP

@Suite("Opening a user's stores")
struct StoreOpeningTests {
    private func credentials(
        account: String = "acc-1", daemon: String = "http://127.0.0.1:1"
    ) throws -> Credentials {
        try Credentials(
            daemon: DaemonAddress(daemon), token: #require(AccessToken("t0ken")),
            account: account, deviceID: "dev-1", deviceName: "desk")
    }

    @Test("directories follow UBIQUITY, then XDG, then HOME; relative paths are ignored")
    func directories() {
        var environment = StoreEnvironment(home: "/home/a")
        #expect(environment.dataDirectory == "/home/a/.local/share/ubiquity")
        #expect(environment.credentialsFile.path == "/home/a/.config/ubiquity/credentials.json")
        environment.variables["XDG_DATA_HOME"] = "/x/data"
        environment.variables["XDG_CONFIG_HOME"] = "relative"
        #expect(environment.dataDirectory == "/x/data/ubiquity")
        #expect(environment.configDirectory == "/home/a/.config/ubiquity")
        environment.variables["XDG_CONFIG_HOME"] = "/x/config/"
        #expect(environment.configDirectory == "/x/config/ubiquity")
        environment.variables["UBIQUITY_DATA_DIR"] = "/u/data"
        environment.variables["UBIQUITY_CONFIG_DIR"] = "/u/config"
        #expect(environment.dataDirectory == "/u/data")
        #expect(environment.configDirectory == "/u/config")
    }

    @Test("every account has a directory of its own, whatever its id contains")
    func accountDirectories() throws {
        let ids = [
            "local", "LOCAL", ".", "..", "../../etc", "/", "a/b", "a%2fb", "a", "A", "ä", "a b",
            "acc@127.0.0.1_1", "acc-1", String(repeating: "Ä", count: 32),
        ]
        var seen: Set<String> = []
        for id in ids {
            let name = StoreEnvironment.directoryName(try credentials(account: id))
            #expect(seen.insert(name).inserted && name != "local" && !name.hasPrefix("."))
            #expect(!name.contains("/") && name == name.lowercased() && name.utf8.count < 256)
        }
        let other = try credentials(daemon: "http://127.0.0.1:2")
        #expect(try StoreEnvironment.directoryName(other) != StoreEnvironment.directoryName(credentials()))
        let below = try credentials(daemon: "http://127.0.0.1:1/base/..")
        #expect(StoreEnvironment.directoryName(below) == "acc-1@127.0.0.1_1%2fbase%2f%2e%2e")
    }

    @Test("a store is local without credentials and the account's with them")
    func open() throws {
        try TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            #expect(!environment.isJoined)
            let local = try UbiquitousKeyValueStore.open(storeNamed: "s", environment: environment)
            #expect(local.status.connection == .local)
            local.set("here", forKey: "k")
            local.close()
            try environment.credentialsFile.write(credentials())
            #expect(environment.isJoined)
            let joined = try UbiquitousKeyValueStore.open(storeNamed: "s", isLive: false, environment: environment)
            #expect(joined.status.connection != .local && joined.keys == [])
            #expect(joined.configuration.directory == directory + "/.local/share/ubiquity/replicas/acc-1@127.0.0.1_1/s")
            joined.close()
            let offline = try environment.configuration(storeNamed: "s", isOnline: false)
            #expect(offline.transport == nil)
            #expect(offline.directory == joined.configuration.directory)
        }
    }

    @Test("invalid credentials are an error, not a local store")
    func unusable() throws {
        try TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            try LocalFile(environment.credentialsFile.path).create("{}")
            do throws(StoreError) {
                _ = try UbiquitousKeyValueStore.open(environment: environment)
                Issue.record("opened")
            } catch {
                #expect(error.code == .unauthorized)
                #expect(error.subject == environment.credentialsFile.path)
            }
            #expect(!FileManager.default.fileExists(atPath: environment.dataDirectory + "/replicas"))
        }
    }

    @Test("an invalid store name never becomes a path", arguments: ["..", "a/b", "", ".x"])
    func storeNames(name: String) throws {
        try TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            do throws(StoreError) {
                _ = try UbiquitousKeyValueStore.open(storeNamed: name, environment: environment)
                Issue.record("opened")
            } catch {
                #expect(error.code == .invalidStoreName)
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(left.isEmpty)
        }
    }

    @Test("joining moves local replicas to the account unless it has one already")
    func adoption() throws {
        try TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            for name in ["one", "two"] {
                let store = try UbiquitousKeyValueStore.open(storeNamed: name, environment: environment)
                store.set(name, forKey: "k")
                store.close()
            }
            // Those that a command has opened, or whose values are gone.
            for name in ["opened", "removed"] {
                let store = try UbiquitousKeyValueStore.open(storeNamed: name, environment: environment)
                if name == "removed" { store.set(name, forKey: "k") }
                store.removeObject(forKey: "k")
                store.close()
            }
            let credentials = try credentials()
            let taken = environment.replicaDirectory(storeNamed: "two", credentials: credentials)
            try FileManager.default.createDirectory(atPath: taken, withIntermediateDirectories: true)
            let result = LocalReplicaAdoption.adopt(in: environment, credentials: credentials)
            #expect(result == LocalReplicaAdoption(moved: ["one"], kept: ["two"]))
            try environment.credentialsFile.write(credentials)
            let store = try UbiquitousKeyValueStore.open(storeNamed: "one", isLive: false, environment: environment)
            #expect(store.string(forKey: "k") == "one")
            #expect(store.status.pendingKeyCount == 1 && !store.status.initialSyncCompleted)
            store.close()
            #expect(
                LocalReplicaAdoption.adopt(in: environment, credentials: credentials)
                    == LocalReplicaAdoption(kept: ["two"]))
        }
    }

    @Test("what could not be moved back is named, when the account was not joined after all")
    func failedReversion() throws {
        try TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            func open(_ name: String) throws {
                let store = try UbiquitousKeyValueStore.open(storeNamed: name, environment: environment)
                store.set(name, forKey: "k")
                store.close()
            }
            for name in ["one", "two"] { try open(name) }
            let credentials = try credentials()
            let adoption = LocalReplicaAdoption.adopt(in: environment, credentials: credentials)
            #expect(adoption.moved == ["one", "two"])
            // Another program has written to a store meanwhile.
            try open("two")
            #expect(adoption.revert(in: environment, credentials: credentials) == ["two"])
            let store = try UbiquitousKeyValueStore.open(storeNamed: "one", environment: environment)
            #expect(store.string(forKey: "k") == "one")
            store.close()
        }
    }

    @Test("a store that is open while its replica moves continues to write into it")
    func adoptionWhileOpen() throws {
        try TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            let open = try UbiquitousKeyValueStore.open(environment: environment)
            open.set(1, forKey: "before")
            let credentials = try credentials()
            _ = LocalReplicaAdoption.adopt(in: environment, credentials: credentials)
            try open.write(.integer(2), forKey: "after")
            open.close()
            try environment.credentialsFile.write(credentials)
            let store = try UbiquitousKeyValueStore.open(isLive: false, environment: environment)
            #expect(store.keys == ["after", "before"])
            store.close()
        }
    }
}
