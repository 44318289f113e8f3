import KVStore
import KVStoreTesting
import Testing

@Suite("Simulated cloud: cost of settling", .timeLimit(.minutes(1)))
struct SettlingSpeedTests {
    /// A second or two in a debug build; a cost that grows with the square of the sets exceeds the time limit.
    @Test("settling costs time in proportion to the number of sets")
    func thousandsOfSets() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        for number in 0..<5_000 {
            phone.store.set(Int64(number), forKey: "key \(number % 1_000)")
            if number % 1_000 == 999 { try await cloud.settle() }
        }
        #expect(mac.store.keys.count == 1_000)
        #expect(mac.store.longLong(forKey: "key 999") == 4_999)
    }

    @Test("settle may run while another task writes")
    func concurrentWrites() async throws {
        let cloud = SimulatedCloud(seed: 2)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        async let writing: Void = {
            for number in 0..<1_000 { phone.store.set(Int64(number), forKey: "key") }
        }()
        while mac.store.longLong(forKey: "key") < 999 { try await cloud.settle() }
        await writing
    }
}
