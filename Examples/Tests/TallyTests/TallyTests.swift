import KVStore
import KVStoreTesting
import Tally
import Testing

@Suite("Counting on several devices")
struct TallyTests {
    @Test("with one shared key, taps made at the same time are lost")
    func shared() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        phone.isOffline = true
        for _ in 0..<3 { SharedTally(store: phone.store).tap() }
        await cloud.advance(by: .seconds(1))
        for _ in 0..<2 { SharedTally(store: mac.store).tap() }
        try await cloud.settle()
        phone.isOffline = false
        try await cloud.settle()

        // The phone's three of the five taps are gone: its write was the older one.
        #expect(SharedTally(store: phone.store).count == 2)
        #expect(SharedTally(store: mac.store).count == 2)
        let decision = try #require(cloud.decisions.last { $0.place == .cloud })
        #expect(decision.winner == .present)
        #expect(decision.incoming?.value == .integer(3), "\(decision)")
    }

    @Test(
        "with a key per device nothing is lost, whatever the network does",
        arguments: 1...UInt64(10))
    func perDevice(seed: UInt64) async throws {
        let cloud = SimulatedCloud(seed: seed)
        let devices = try ["phone", "mac", "watch"].map { try cloud.device($0) }
        let tallies = devices.map { Tally(store: $0.store, device: $0.name) }
        for device in devices {
            device.isReordering = true
            device.duplicateNext(2)
            device.dropNext(1, .answer)
        }
        devices[2].isOffline = true
        for round in 0..<12 {
            tallies[round % 3].tap()
            await cloud.advance(by: .milliseconds(700))
        }
        devices[2].isOffline = false
        try await cloud.settle()
        for tally in tallies { #expect(tally.count == 12, "seed \(seed)") }
    }
}
