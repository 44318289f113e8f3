import Foundation
import KVStore
import KVStoreCore
import KVStoreTesting
import Testing

@Suite("Faults of a network")
struct NetworkFaultsTests {
    private func send(
        _ faults: inout NetworkFaults, _ message: NetworkFault.Message, seed: UInt64 = 1
    ) -> NetworkFaults.Outcome {
        var random = SplitMix64(seed: seed)
        return faults.send(message, random: &random)
    }

    @Test("without faults a message arrives as it is sent")
    func none() {
        var faults = NetworkFaults()
        for message in NetworkFault.Message.allCases {
            #expect(send(&faults, message) == .arrives([0]))
        }
        #expect(!faults.isOffline && !faults.holds(.answer))
        #expect(faults.throttleSeconds(now: 0) == nil)
    }

    @Test("a fault strikes the kinds of messages that it names, as often as it says")
    func counts() {
        var faults = NetworkFaults()
        _ = faults.add(NetworkFault(.drop, of: [.answer], count: 2), now: 0)
        #expect(send(&faults, .request) == .arrives([0]))
        #expect(send(&faults, .answer) == .lost)
        #expect(send(&faults, .answer) == .lost)
        #expect(send(&faults, .answer) == .arrives([0]))
        #expect(faults.active.isEmpty)
    }

    @Test("delays add up, a copy arrives later, and only requests fail or are doubled")
    func effects() {
        var faults = NetworkFaults()
        _ = faults.add(NetworkFault(.delay(.seconds(2))), now: 0)
        _ = faults.add(NetworkFault(.delay(.seconds(1)), of: [.request]), now: 0)
        _ = faults.add(NetworkFault(.duplicate, count: 1), now: 0)
        #expect(send(&faults, .answer) == .arrives([2_000]))
        guard case .arrives(let times) = send(&faults, .request) else {
            Issue.record("it is lost")
            return
        }
        #expect(times.count == 2 && times[0] == 3_000 && (3_000...5_000).contains(times[1]))
        let reason = SyncTransportError.unauthorized("the token was revoked")
        _ = faults.add(NetworkFault(.fail(reason), count: 1), now: 0)
        #expect(send(&faults, .event) == .arrives([2_000]))
        #expect(send(&faults, .request) == .fails(reason))
    }

    @Test("a fault ends with its time to live")
    func timeToLive() {
        var faults = NetworkFaults()
        let id = faults.add(NetworkFault(.offline, for: .seconds(5)), now: 1_000)
        _ = faults.add(NetworkFault(.hold, of: [.event]), now: 1_000)
        #expect(faults.isOffline && faults.holds(.event) && !faults.holds(.request))
        #expect(faults.nextEnd == 6_000)
        #expect(faults.expire(now: 5_999).isEmpty)
        #expect(faults.expire(now: 6_000).map(\.id) == [id])
        #expect(!faults.isOffline && faults.nextEnd == nil)
        faults.remove { $0.fault.effect == .hold }
        #expect(faults.active.isEmpty)
    }

    @Test("a probability strikes as often as it says, and the same messages for the same seed")
    func probability() {
        func lost(faultSeed: UInt64?, seed: UInt64) -> [Bool] {
            var faults = NetworkFaults()
            var random = SplitMix64(seed: seed)
            _ = faults.add(NetworkFault(.drop, probability: 0.3, seed: faultSeed), now: 0)
            return (0..<1_000).map { _ in faults.send(.request, random: &random) == .lost }
        }
        #expect((250...350).contains(lost(faultSeed: 7, seed: 1).count { $0 }))
        #expect(lost(faultSeed: 7, seed: 1) == lost(faultSeed: 7, seed: 2))
        #expect(lost(faultSeed: nil, seed: 1) == lost(faultSeed: nil, seed: 1))
        #expect(lost(faultSeed: nil, seed: 1) != lost(faultSeed: nil, seed: 2))
    }

    @Test("a throttle says how long to wait, and counts only what it accepts")
    func throttle() {
        var faults = NetworkFaults()
        let throttle = CloudThrottle(requestCount: 2, per: .seconds(90))
        _ = faults.add(NetworkFault(.throttle(throttle)), now: 0)
        #expect(faults.throttleSeconds(now: 0) == nil)
        #expect(faults.throttleSeconds(now: 10_000) == nil)
        #expect(faults.throttleSeconds(now: 30_000) == 60)
        #expect(faults.throttleSeconds(now: 90_000) == nil)
        #expect(faults.throttleSeconds(now: 91_000) == 9)
    }

    @Test("a device whose fault has an end syncs after it, without anybody's help")
    func ending() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        let start = cloud.now
        phone.inject(NetworkFault(.offline, for: .seconds(60)))
        mac.inject(NetworkFault(.hold, of: [.event], for: .seconds(200)))
        #expect(phone.isOffline && mac.isHeld)
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "dark")
        #expect(cloud.now.timeIntervalSince(start) >= 200)
        #expect(phone.faults.isEmpty && mac.faults.isEmpty)
    }

    @Test("faults that overlap are removed one by one")
    func overlapping() async throws {
        let cloud = SimulatedCloud(seed: 2)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        let removeFirst = phone.inject(NetworkFault(.offline))
        let removeSecond = phone.inject(NetworkFault(.offline))
        phone.store.set("dark", forKey: "theme")
        removeFirst()
        try await cloud.settle()
        #expect(phone.isOffline && mac.store.string(forKey: "theme") == nil)
        removeSecond()
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "dark")
        #expect(NetworkFault(.drop, of: [.answer], count: 2).description == "drop of the next 2 answers")
    }

    @Test("a device that does not receive events still sends, also after a failed request")
    func heldEvents() async throws {
        let cloud = SimulatedCloud(seed: 3)
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        mac.inject(NetworkFault(.hold, of: [.event]))
        mac.failNextRequest()
        mac.store.set("dark", forKey: "theme")
        // The event of its own change is held.
        await #expect(throws: CloudError.self) { try await cloud.settle() }
        #expect(phone.store.string(forKey: "theme") == "dark")
        mac.store.set("light", forKey: "theme")
        _ = try await mac.store.synchronizeNow()
    }

    @Test("held events come before one that arrives when the fault ends")
    func orderOfHeldEvents() async throws {
        // One of these is the time at which the second event arrives.
        for duration in 30...130 {
            let cloud = SimulatedCloud(seed: 6)
            let phone = try cloud.device("phone")
            let mac = try cloud.device("mac")
            try await cloud.settle()
            mac.inject(NetworkFault(.hold, of: [.event], for: .milliseconds(duration)))
            for key in ["first", "second"] {
                phone.store.set(true, forKey: key)
                await cloud.advance(by: .milliseconds(1))
            }
            try await cloud.settle()
            let keys = cloud.decisions.filter { $0.place == .device("mac") }.map(\.key)
            #expect(keys == ["first", "second"], "held for \(duration) ms")
        }
    }

    @Test("faults of an offline device that end later do not keep the cloud from settling")
    func lateEnd() async throws {
        let cloud = SimulatedCloud(seed: 4)
        let phone = try cloud.device("phone")
        try await cloud.settle()
        phone.isOffline = true
        phone.inject(NetworkFault(.drop, for: .seconds(7_200)))
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
    }

    @Test("a round trip fails if observers answer each other endlessly")
    func endless() async throws {
        let cloud = SimulatedCloud(seed: 5)
        let phone = try cloud.device("phone", .with { $0.limits = StoreLimits(totalByteCount: 10) })
        let store = phone.store
        let token = phone.notificationCenter.addObserver(
            forName: UbiquitousKeyValueStore.didChangeExternallyNotification, object: nil, queue: nil
        ) { _ in store.set("much too long a value", forKey: "note") }
        store.set("much too long a value", forKey: "note")
        await #expect(throws: StoreError.self) { try await store.synchronizeNow() }
        phone.notificationCenter.removeObserver(token)
    }
}
