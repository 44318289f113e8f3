import KVStore
import KVStoreTesting
import Testing

@Suite("Simulated cloud: cost of settling", .timeLimit(.minutes(5)))
struct SettlingSpeedTests {
    /// About 0.1 s on an idle machine in a debug build; a cost that grows with the square of the sets is 10 s and more.
    @Test("settling costs time in proportion to the number of sets")
    func thousandSets() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        for number in 0..<1_000 { phone.store.set(Int64(number), forKey: "key \(number)") }
        let start = ContinuousClock.now
        try await cloud.settle()
        #expect(ContinuousClock.now - start < .seconds(3))
        #expect(mac.store.keys.count == 1_000)
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
