import Foundation
import Groceries
import KVStore
import KVStoreHTTP
import Testing

/// The same model over the network, as an app opens its store.
///
///     kvsd emulator exec -- swift test
@Suite(
    "Groceries in the emulator",
    .enabled(
        if: ProcessInfo.processInfo.environment["UBIQUITY_DAEMON"] != nil,
        "run kvsd emulator exec -- swift test"),
    .timeLimit(.minutes(1)))
@MainActor
struct EmulatorTests {
    /// Each test has its own, so all of them can run at the same time.
    private let world = UUID().uuidString

    private func store(of device: String, in world: String? = nil) throws -> UbiquitousKeyValueStore {
        var variables = ProcessInfo.processInfo.environment
        variables[StoreEnvironment.tokenVariable] = "\(world ?? self.world)/\(device)"
        return try .open(
            storeNamed: "groceries", environment: StoreEnvironment(variables: variables))
    }

    @Test("a device shows what another one adds, buys and removes")
    func liveChanges() async throws {
        let (phone, desk) = (try store(of: "phone"), try store(of: "desk"))
        defer { [phone, desk].forEach { $0.close() } }
        let (here, there) = (Groceries.following(phone), Groceries.following(desk))
        try here.add("milk")
        #expect(await there.shows(["milk"]))
        there.setBought(true, try #require(there.item("milk")))
        #expect(await here.shows(["✓ milk"]))
        here.removeBought()
        #expect(await there.shows([]))
    }

    @Test("devices that add at the same time have the same list")
    func concurrentAdditions() async throws {
        let stores = try ["phone", "tablet", "desk"].map { try store(of: $0) }
        defer { stores.forEach { $0.close() } }
        let lists = stores.map { Groceries.following($0) }
        for (list, name) in zip(lists, ["eggs", "milk", "bread"]) {
            try list.add(name)
            try list.add("salt")
        }
        for list in lists {
            #expect(await list.shows(["bread", "eggs", "milk", "salt"]))
        }
    }

    @Test("a device that joins later downloads the list")
    func laterDevice() async throws {
        let phone = try store(of: "phone")
        try Groceries(store: phone).add("milk")
        let report = try await phone.synchronizeNow()
        #expect(report.pendingKeyCount == 0)
        phone.close()
        let desk = try store(of: "desk")
        defer { desk.close() }
        #expect(await Groceries.following(desk).shows(["milk"]))
    }

    @Test("a device of another world has a list of its own")
    func worlds() async throws {
        let (phone, stranger) = (
            try store(of: "phone"), try store(of: "phone", in: UUID().uuidString)
        )
        defer { [phone, stranger].forEach { $0.close() } }
        try Groceries(store: phone).add("milk")
        _ = try await phone.synchronizeNow()
        _ = try await stranger.synchronizeNow()
        #expect(Groceries(store: stranger).items.isEmpty)
    }
}
