import KVStore
import KVStoreTesting
import Testing

@Suite("Simulated cloud: coming to rest", .timeLimit(.minutes(1)))
struct SettlingTests {
    private let cloud = SimulatedCloud(seed: 1)

    @Test("what one device sets another reads after the cloud has settled")
    func twoDevices() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "dark")
    }
}
