import FirstLaunch
import KVStore
import KVStoreTesting
import Testing

@Suite("First launch")
struct FirstLaunchTests {
    /// Demonstrates the bug on a store that simply keeps the last write.
    @Test("on a store that keeps the last write, a new phone resets the theme on all devices")
    func naiveStore() {
        let cloud = LastWriteWins()
        let old = EagerSettings(store: cloud)
        old.firstLaunch()
        cloud.set("dark", forKey: "theme")  // the user chooses
        EagerSettings(store: cloud).firstLaunch()  // the user buys a new phone
        #expect(old.theme == "light")
    }

    @Test("with this store the default gives way, and the app is notified with reason 1")
    func defaultGivesWay() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let mac = try cloud.device("mac")
        try await cloud.settle()
        mac.store.set("dark", forKey: "theme")
        try await cloud.settle()

        let phone = try cloud.device("phone")
        let settings = EagerSettings(store: phone.store)
        settings.firstLaunch()
        #expect(settings.theme == "light")
        try await cloud.settle()

        #expect(settings.theme == "dark")
        #expect(mac.store.string(forKey: "theme") == "dark")
        #expect(phone.notifications.map(\.reason) == [.initialSyncChange])
        let decision = try #require(cloud.decisions.last { $0.key == "theme" })
        #expect(decision.reason == .provisionalGaveWay, "\(decision)")
    }

    @Test("a default written after the download is an ordinary write and overwrites")
    func tooLate() async throws {
        let cloud = SimulatedCloud(seed: 2)
        let mac = try cloud.device("mac")
        mac.store.set("dark", forKey: "theme")
        try await cloud.settle()

        let phone = try cloud.device("phone")
        try await cloud.settle()
        EagerSettings(store: phone.store).resetAfterDownload()
        try await cloud.settle()

        #expect(mac.store.string(forKey: "theme") == "light")
        let decision = try #require(cloud.decisions.last { $0.place == .cloud })
        #expect(decision.reason == .greaterStamp, "\(decision)")
        #expect(decision.incoming?.writer == "phone")
    }

    @Test("defaults in code overwrite nothing, before and after the download")
    func right() async throws {
        let cloud = SimulatedCloud(seed: 3)
        let mac = try cloud.device("mac")
        mac.store.set("dark", forKey: "theme")
        try await cloud.settle()

        let phone = try cloud.device("phone")
        let settings = Settings(store: phone.store)
        #expect(settings.theme == "light")
        try await cloud.settle()
        #expect(settings.theme == "dark")

        try phone.reinstall()
        try await cloud.settle()
        #expect(Settings(store: phone.store).theme == "dark")
        #expect(mac.store.string(forKey: "theme") == "dark")
    }

    @Test("a migration waits for the first download, however long the device is offline")
    func migration() async throws {
        let cloud = SimulatedCloud(seed: 4)
        let mac = try cloud.device("mac")
        mac.store.set("dark", forKey: "theme")
        mac.store.set("sepia", forKey: "colours")
        try await cloud.settle()

        let phone = try cloud.device("phone")
        phone.isOffline = true
        let settings = Settings(store: phone.store)
        await cloud.advance(by: .seconds(3_600))
        #expect(!settings.migrate())

        phone.isOffline = false
        try await cloud.settle()
        #expect(phone.notifications.first?.reason == .initialSyncChange)
        #expect(settings.migrate())
        try await cloud.settle()
        #expect(mac.store.dictionaryRepresentation.keys.sorted() == ["theme"])
        #expect(mac.store.string(forKey: "theme") == "dark")
    }
}
