import Foundation
import KVStore
import LocalFiles
import Testing

@testable import KVStoreHTTP

@Suite("Changes of the account while a store is open")
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
            #expect(
                joined.directory
                    == environment.replicaDirectory(storeNamed: "s", credentials: one))
            #expect(joined.transport != nil)
            let local = environment.configuration(of: nil, storeNamed: "s")
            #expect(local.directory.hasSuffix("/replicas/local/s") && local.transport == nil)
        }
    }

    @Test("joining, changing and leaving the account are detected")
    func changes() throws {
        try TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            let one = try credentials(account: "one")
            #expect(!environment.hasAnotherAccount(than: nil))
            #expect(environment.hasAnotherAccount(than: one))
            try environment.credentialsFile.write(one)
            #expect(environment.hasAnotherAccount(than: nil))
            #expect(!environment.hasAnotherAccount(than: one))
            try environment.credentialsFile.write(credentials(account: "two"))
            #expect(environment.hasAnotherAccount(than: one))
        }
    }

    @Test("an unreadable credentials file is not another account")
    func unusable() throws {
        try TemporaryDirectory.use { directory in
            let environment = StoreEnvironment(home: directory)
            try LocalFile(environment.credentialsFile.path).create("{")
            #expect(!environment.hasAnotherAccount(than: nil))
            #expect(!environment.hasAnotherAccount(than: try credentials(account: "one")))
        }
    }
}
