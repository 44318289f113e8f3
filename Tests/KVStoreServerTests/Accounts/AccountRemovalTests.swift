import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreLedger
import KVStoreSimulation
import KVStoreWire
import Logging
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import KVStoreServer

@Suite("Removal of accounts", .engines, .timeLimit(.minutes(5)))
struct AccountRemovalTests {
    private func fill(_ test: TestServer, stores: Int = 40) async throws {
        for account in ["default", "other"] {
            for number in 0..<stores {
                _ = try await test.server.engine.sync(
                    Samples.request([Samples.change("k")]), store: StoreID(account: account, name: "s\(number)"))
            }
        }
    }

    private func ended(_ test: TestServer) async throws {
        try await wait { try test.deviceStorage.removedAccount == nil }
    }

    @Test("a running server revokes the tokens and codes, ends the streams and removes the stores")
    func running() async throws {
        let test = try TestServer()
        let file = test.deviceStorage
        try await test.served { client, port in
            try await fill(test)
            var reader = try await EventReader(
                port: port, path: "/v1/stores/s1/changes?since=1", token: test.token(TestServer.stranger))
            #expect(await reader.next()?.name == "opened")
            func pair(_ account: String) throws -> PairingCode {
                try file.addPairing(name: nil, DevicePermissions(account: account), now: Samples.now)
            }
            let (code, mine) = (try pair("other"), try pair("default"))
            func redeem(_ code: PairingCode) async throws -> TestResponse {
                try await client.execute(
                    uri: "/v1/pair", method: .post,
                    body: ByteBuffer(bytes: WireJSON.encode(PairingRequest(code: code.text, device: "tablet"))))
            }
            try file.beginRemoval(ofAccount: "other")
            #expect(await reader.next() == nil)
            let refused = try await test.send(client, .get, "/v1/stores", as: TestServer.stranger)
            #expect(refused.status == .unauthorized)
            try await ended(test)
            #expect(try await test.server.engine.storeList(ofAccount: "other").isEmpty)
            #expect(try await test.server.engine.storeList(ofAccount: "default").count == 40)
            // Also not after an account of this name is added again.
            try file.addAccount("other")
            #expect(try await redeem(code).problemCode == "wrong-code")
            #expect(try await redeem(mine).status == .ok)
        }
    }

    @Test("a request of a removed account that was read before does not bring back a store")
    func late() async throws {
        let test = try TestServer()
        try await test.served { _, _ in
            try test.deviceStorage.beginRemoval(ofAccount: "other")
            try await ended(test)
            let id = StoreID(account: "other", name: "s")
            await #expect(throws: Problem.unauthorized) {
                _ = try await test.server.engine.sync(Samples.request([Samples.change("k")]), store: id)
            }
            #expect(try await test.server.engine.storeList(ofAccount: "other").isEmpty)
        }
    }

    @Test("a removal waits for a disk that fails, and nothing is forgotten meanwhile", .logOnly)
    func failingDisk() async throws {
        let test = try TestServer(recoveryDelay: .milliseconds(1))
        try await test.served { _, _ in
            try await fill(test, stores: 3)
            test.storage.aim(.fail(5), at: .sync)
            try test.deviceStorage.beginRemoval(ofAccount: "other")
            try await ended(test)
            #expect(try await test.server.engine.storeList(ofAccount: "other").isEmpty)
        }
        let reopened = try Ledger(storage: test.storage.disk.copy().storage(), seed: 3)
        #expect(reopened.storeCount(ofAccount: "other") == 0)
        #expect(reopened.storeCount(ofAccount: "default") == 3)
    }

    @Test("stores that are gone from memory alone do not count as removed before the log has recovered", .logOnly)
    func unsyncedRemoval() async throws {
        let test = try TestServer(recoveryDelay: .hours(1))
        try await test.served { _, _ in
            try await fill(test, stores: 3)
            let engine = test.server.engine
            test.storage.aim(.fail(5), at: .sync)
            for _ in 0..<2 {
                await #expect(throws: Problem.self) {
                    _ = try await engine.wait {
                        engine.removeStores(ofAccount: "other", count: 16, on: $0, $1)
                    }
                }
            }
        }
    }

    /// A data directory with stores of two accounts.
    private func directory(_ temporary: TemporaryDirectory) throws -> DataDirectory {
        let directory = DataDirectory(temporary.path + "/data")
        try directory.create()
        let ledger = try directory.openLedger()
        for account in ["default", "family"] {
            for name in ["a", "b", "c"] {
                _ = try ledger.accept(
                    [Samples.change("k")], to: StoreID(account: account, name: name), now: Samples.now)
            }
        }
        try ledger.close()
        try directory.deviceFile.addAccount("family")
        _ = try directory.deviceFile.add("phone", DevicePermissions(account: "family"))
        _ = try directory.deviceFile.addPairing(name: nil, DevicePermissions(account: "family"))
        return directory
    }

    private func expectRemoved(_ directory: DataDirectory) throws {
        let usage = try directory.accountUsage()
        #expect(usage.map(\.account) == ["default"] && usage.first?.storeCount == 3)
        #expect(try directory.deviceFile.devices.isEmpty)
        try directory.pairingFile.change { #expect($0.pairings.isEmpty) }
    }

    @Test("a removal that was interrupted anywhere is resumed by the next start", arguments: 0...3)
    func resumed(removedStores: Int) async throws {
        let temporary = try TemporaryDirectory()
        let directory = try directory(temporary)
        try directory.deviceFile.beginRemoval(ofAccount: "family")
        let ledger = try directory.openLedger()
        for id in ledger.stores(ofAccount: "family").prefix(removedStores) {
            _ = try ledger.remove(id)
        }
        if removedStores > 1 { try directory.deviceFile.removePairings(ofAccount: "family") }
        try ledger.close()
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let server = try StoreServer(ServerConfiguration(storage: .directory(directory.path), logger: logger))
        async let running: Void = server.run()
        try await wait { try directory.deviceFile.removedAccount == nil }
        await server.stop()
        try await running
        try expectRemoved(directory)
    }

    @Test("without a server the removal is finished at once, and with one it is left to it", .logOnly)
    func withoutServer() throws {
        let temporary = try TemporaryDirectory()
        let directory = try directory(temporary)
        let usage = try #require(try directory.accountUsage().last)
        #expect(usage.account == "family" && usage.devices == ["phone"] && usage.storeCount == 3)
        #expect(usage.byteCount == 3 * Ledger.memoryByteCount(of: Samples.change("k")))
        try directory.deviceFile.beginRemoval(ofAccount: "family")
        let inUse = try directory.openLedger()
        #expect(try !directory.finishAccountRemovals())
        #expect(try directory.deviceFile.isBeingRemoved(account: "family"))
        try inUse.close()
        #expect(try directory.finishAccountRemovals())
        try expectRemoved(directory)
    }

    @Test("a lost or replaced devices.json removes no store")
    func lostFile() async throws {
        let temporary = try TemporaryDirectory()
        let directory = try directory(temporary)
        try FileManager.default.removeItem(atPath: directory.path + "/devices.json")
        let server = try StoreServer(ServerConfiguration(storage: .directory(directory.path)))
        async let running: Void = server.run()
        _ = try await server.port
        try server.devices.change { $0.accounts = nil }
        #expect(try directory.finishAccountRemovals() == false)
        await server.stop()
        try await running
        let usage = try directory.accountUsage()
        #expect(usage.map(\.account) == ["default", "family"])
        #expect(usage.allSatisfy { $0.storeCount == 3 })
    }
}
