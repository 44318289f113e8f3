import Groceries
import KVStore
import KVStoreTesting
import Testing

/// The model on devices of a cloud in this process: virtual time decides which write is later.
@Suite("Groceries", .timeLimit(.minutes(1)))
@MainActor
struct GroceriesTests {
    private let cloud = SimulatedCloud(seed: 1)
    private let phone: CloudDevice
    private let desk: CloudDevice

    init() throws {
        phone = try cloud.device("phone")
        desk = try cloud.device("desk")
    }

    @Test("what two devices add while offline is on both lists, each item once")
    func additions() async throws {
        let (here, there) = (Groceries.following(phone.store), Groceries.following(desk.store))
        try await cloud.settle()
        phone.isOffline = true
        try here.add("milk")
        try here.add("eggs")
        try there.add("milk")
        try there.add("bread")
        phone.isOffline = false
        try await cloud.settle()
        #expect(await here.shows(["bread", "eggs", "milk"]))
        #expect(await there.shows(["bread", "eggs", "milk"]))
    }

    @Test("an item that is bought on one device and put back later on another is still to buy")
    func laterTick() async throws {
        let (here, there) = (Groceries.following(phone.store), Groceries.following(desk.store))
        try here.add("milk")
        try await cloud.settle()
        #expect(await there.shows(["milk"]))
        phone.isOffline = true
        here.setBought(true, try #require(here.item("milk")))
        await cloud.advance(by: .seconds(60))
        there.setBought(true, try #require(there.item("milk")))
        there.setBought(false, try #require(there.item("milk")))
        phone.isOffline = false
        try await cloud.settle()
        #expect(await here.shows(["milk"]), "\(cloud.explain("item.milk"))")
    }

    @Test("removing what is bought keeps what was put back meanwhile")
    func removal() async throws {
        let (here, there) = (Groceries.following(phone.store), Groceries.following(desk.store))
        for name in ["eggs", "milk"] {
            try here.add(name)
            here.setBought(true, try #require(here.item(name)))
        }
        try await cloud.settle()
        #expect(await there.shows(["✓ eggs", "✓ milk"]))
        phone.isOffline = true
        here.removeBought()
        #expect(here.items.isEmpty)
        await cloud.advance(by: .seconds(60))
        there.setBought(false, try #require(there.item("milk")))
        phone.isOffline = false
        try await cloud.settle()
        #expect(await here.shows(["milk"]))
        #expect(await there.shows(["milk"]))
    }

    @Test("a blank name adds nothing, and one that is too long is an error")
    func names() throws {
        let groceries = Groceries(store: phone.store)
        try groceries.add(" milk\n")
        try groceries.add("  ")
        let error = #expect(throws: StoreError.self) {
            try groceries.add(String(repeating: "m", count: 200))
        }
        #expect(error?.code == .invalidKey)
        #expect(groceries.items.map(\.name) == ["milk"])
    }

    @Test("the list survives a restart of the app")
    func restart() async throws {
        try Groceries(store: phone.store).add("milk")
        try phone.restart(after: .kill)
        #expect(Groceries(store: phone.store).items.map(\.name) == ["milk"])
    }
}
