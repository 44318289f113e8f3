import Foundation
import KVStore
import KVStoreTesting
import Testing

/// The cloud of a test on the page "Test your sync code".
private func cloud(
    of test: String, seed: UInt64,
    _ environment: [String: String] = ProcessInfo.processInfo.environment
) throws -> SimulatedCloud {
    guard let directory = environment["RECORDS"] else { return SimulatedCloud(seed: seed) }
    let path = "\(directory)/\(test).jsonl"
    return environment["REPLAY"] == nil ? SimulatedCloud(seed: seed, record: path) : try SimulatedCloud(replaying: path)
}

@Suite("Snippets: a test that failed in CI", .timeLimit(.minutes(5)))
struct RecordSnippets {
    @Test("a test writes its record, is compared with it, or does neither")
    func records() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "ubiquity-snippets-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        func test(_ environment: [String: String], _ value: String = "dark") async throws {
            let cloud = try cloud(of: "sync", seed: 4, environment)
            let phone = try cloud.device("phone")
            phone.store.set(value, forKey: "theme")
            try await cloud.settle()
        }
        try await test([:])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
        try await test(["RECORDS": directory])
        try await test(["RECORDS": directory, "REPLAY": "1"])
        await #expect(throws: CloudError.self) {
            try await test(["RECORDS": directory, "REPLAY": "1"], "light")
        }
    }
}

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
        let phone = try cloud.device("phone", .with { $0.limits = StoreLimits(totalByteCount: 1_000) })
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
