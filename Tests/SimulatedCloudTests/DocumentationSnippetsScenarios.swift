import KVStore
import KVStoreTesting
import Testing

/// The scenarios that each of the pages "If you know …" shows.
@Suite("Snippets: five scenarios", .timeLimit(.minutes(5)))
struct ScenarioSnippets {
    @Test("two devices converge")
    func twoDevices() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "dark")
    }

    @Test("an edit made offline meets a later one")
    func conflict() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        phone.isOffline = true
        phone.store.set("sepia", forKey: "theme")
        await cloud.advance(by: .seconds(60))
        mac.store.set("light", forKey: "theme")
        phone.isOffline = false
        try await cloud.settle()
        #expect(phone.store.string(forKey: "theme") == "light")
        let decision = try #require(cloud.decisions.last { $0.place == .cloud })
        #expect(decision.present?.writer == "mac", "\(cloud.explain("theme"))")
    }

    @Test("a write exceeds the quota")
    func quota() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let phone = try cloud.device(
            "phone", .with { $0.limits = StoreLimits(totalByteCount: 1_000) })
        phone.store.set(String(repeating: "n", count: 2_000), forKey: "note")
        try await cloud.settle()
        #expect(phone.store.string(forKey: "note") == nil)
        #expect(phone.notifications.last?.reason == .quotaViolationChange)
    }

    @Test("the user switches accounts")
    func accounts() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let phone = try cloud.device("phone")
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        try phone.changeAccount(to: "family")
        try await cloud.settle()
        #expect(phone.store.string(forKey: "theme") == nil)
        #expect(phone.notifications.last?.reason == .accountChange)
    }

    @Test("a debounced save, a lost request and its retry")
    func lostRequest() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        phone.dropNext(1, .request)
        Task {  // the app saves 2 seconds after the last keystroke
            try await cloud.clock.sleep(for: .seconds(2))
            phone.store.set("dark", forKey: "theme")
        }
        try await cloud.run { phone.store.status.pendingKeyCount == 1 }
        await cloud.advance(by: .seconds(29))
        #expect(mac.store.string(forKey: "theme") == nil)
        await cloud.advance(by: .seconds(60))  // times out after 30 and is retried
        #expect(mac.store.string(forKey: "theme") == "dark")
    }
}
