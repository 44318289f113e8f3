import Foundation
import KVStore
import Testing

@testable import KVStoreHTTP

@Suite("Another account while a store is open")
struct JoinedAccountTests {
    private func credentials(account: String) throws -> Credentials {
        try Credentials(
            daemon: DaemonAddress("http://127.0.0.1:1"), token: #require(AccessToken("t0ken")),
            account: account, deviceID: "dev-1", deviceName: "desk")
    }

    @Test("a store is that of the credentials it is opened with, whatever has been joined since")
    func givenCredentials() throws {
        try TemporaryFolder.use { folder in
            let environment = StoreEnvironment(home: folder)
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

    @Test("joining, joining another account and leaving are told from what was read before")
    func changes() throws {
        try TemporaryFolder.use { folder in
            let environment = StoreEnvironment(home: folder)
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

    @Test("a file that cannot be used is no other account")
    func unusable() throws {
        try TemporaryFolder.use { folder in
            let environment = StoreEnvironment(home: folder)
            try PrivateFile.write(Data("{".utf8), to: environment.credentialsFile.path)
            #expect(!environment.hasAnotherAccount(than: nil))
            #expect(!environment.hasAnotherAccount(than: try credentials(account: "one")))
        }
    }
}
