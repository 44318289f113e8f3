import Foundation
import KVStore
import KVStoreTesting
import Testing

@Suite("Simulated cloud: the network", .timeLimit(.minutes(5)))
struct NetworkTests {
    private let cloud = SimulatedCloud(seed: 2)
    private let phone: CloudDevice
    private let mac: CloudDevice

    init() async throws {
        phone = try cloud.device("phone")
        mac = try cloud.device("mac")
        try await cloud.settle()
    }

    private func lines(_ text: String) -> Int { cloud.trace.count { $0.contains(text) } }

    @Test("writes work offline and are sent when the device is back online")
    func offline() async throws {
        phone.isOffline = true
        phone.store.set("dark", forKey: "theme")
        await cloud.advance(by: .seconds(300))
        #expect(phone.store.string(forKey: "theme") == "dark")
        #expect(phone.store.status.connection == .offline("phone is offline"))
        #expect(mac.store.string(forKey: "theme") == nil)
        phone.isOffline = false
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "dark")
        #expect(phone.store.status.connection == .connected)
    }

    @Test("a month offline takes no more events than ten minutes, and ends as soon")
    func longOffline() async throws {
        var counts: [Int] = []
        for duration in [Duration.seconds(600), .seconds(30 * 86_400)] {
            let cloud = SimulatedCloud(seed: 3)
            let phone = try cloud.device("phone")
            let mac = try cloud.device("mac")
            try await cloud.settle()
            phone.inject(NetworkFault(.offline, for: duration))
            phone.store.set("dark", forKey: "theme")
            mac.store.set(1, forKey: "count")
            await cloud.advance(by: duration - .seconds(1))
            #expect(phone.store.status.connection == .offline("phone is offline"))
            counts.append(cloud.trace.count)
            await cloud.advance(by: .seconds(32))
            #expect(mac.store.string(forKey: "theme") == "dark")
            #expect(phone.store.longLong(forKey: "count") == 1)
            #expect(phone.store.status.connection == .connected)
        }
        #expect(counts[0] == counts[1])
    }

    @Test("going offline loses messages in flight, but no write")
    func offlineInFlight() async throws {
        mac.store.set("light", forKey: "theme")
        phone.store.set(1, forKey: "count")
        await cloud.advance(by: .milliseconds(5))
        phone.isOffline = true
        try await cloud.settle()
        #expect(lines("is lost") > 0)
        #expect(phone.store.string(forKey: "theme") == nil)
        phone.isOffline = false
        try await cloud.settle()
        #expect(phone.store.string(forKey: "theme") == "light")
        #expect(mac.store.longLong(forKey: "count") == 1)
    }

    @Test("held messages wait for their release without a time limit")
    func hold() async throws {
        phone.hold()
        phone.store.set("dark", forKey: "theme")
        await cloud.advance(by: .seconds(600))
        #expect(mac.store.string(forKey: "theme") == nil)
        phone.release()
        try await cloud.settle()
        #expect(mac.store.string(forKey: "theme") == "dark")
        #expect(phone.store.status.pendingKeyCount == 0)
    }

    @Test("a lost message costs only time", arguments: CloudDevice.Message.allCases)
    func drop(_ message: CloudDevice.Message) async throws {
        phone.dropNext(2, message)
        mac.dropNext(2, message)
        phone.store.set("dark", forKey: "theme")
        mac.store.set(1, forKey: "count")
        try await cloud.settle()
        #expect(lines("the network loses") + lines("breaks the stream") >= 2)
        #expect(mac.store.string(forKey: "theme") == "dark")
        #expect(phone.store.longLong(forKey: "count") == 1)
        #expect(phone.store.status.pendingKeyCount == 0)
    }

    @Test("a late duplicate of a request does not bring back a replaced value")
    func duplicate() async throws {
        phone.duplicateNext()
        phone.store.set("dark", forKey: "theme")
        await cloud.advance(by: .milliseconds(200))
        mac.store.set("light", forKey: "theme")
        try await cloud.settle()
        #expect(lines("doubles") == 1)
        #expect(phone.store.string(forKey: "theme") == "light")
        #expect(mac.store.string(forKey: "theme") == "light")
    }

    @Test("reordered messages lead to the same values everywhere")
    func reordering() async throws {
        for device in [phone, mac] { device.isReordering = true }
        for round in 0..<20 {
            phone.store.set(Int64(round), forKey: "a")
            mac.store.set(Int64(round), forKey: "b")
            phone.store.set(Int64(round), forKey: "shared")
            await cloud.advance(by: .milliseconds(300))
            mac.store.set(Int64(-round), forKey: "shared")
            await cloud.advance(by: .milliseconds(300))
        }
        try await cloud.settle()
        for device in [phone, mac] {
            #expect(device.store.longLong(forKey: "a") == 19)
            #expect(device.store.longLong(forKey: "b") == 19)
            #expect(device.store.longLong(forKey: "shared") == -19)
        }
    }

    @Test("delay slows a device down; beyond half a minute its requests fail")
    func delay() async throws {
        phone.delay = .seconds(4)
        phone.store.set("dark", forKey: "theme")
        let before = cloud.now
        try await cloud.settle()
        #expect(cloud.now.timeIntervalSince(before) >= 8)
        #expect(mac.store.string(forKey: "theme") == "dark")
        phone.delay = .seconds(20)
        let error = await #expect(throws: StoreError.self) {
            try await phone.store.synchronizeNow()
        }
        #expect(error?.code == .unreachable)
    }

    @Test("there is no throttle by default; with one, a device that sends too often has to wait")
    func throttle() async throws {
        func write(_ count: Int) async {
            for number in 0..<count {
                phone.store.set(Int64.random(in: 0...(.max)), forKey: "key \(number)")
                await cloud.advance(by: .seconds(1))
            }
        }
        await write(20)
        #expect(phone.store.status.pendingKeyCount == 0)
        phone.throttle = .observedOfApple
        await write(15)
        #expect(phone.store.status.pendingKeyCount == 0)
        await write(1)
        #expect(phone.store.status.pendingKeyCount == 1)
        #expect(lines("to wait") == 1)
        await cloud.advance(by: .seconds(60))
        #expect(phone.store.status.pendingKeyCount == 1)
        await cloud.advance(by: .seconds(40))
        #expect(phone.store.status.pendingKeyCount == 0)
    }

    @Test("a request fails with the given error, and the next one succeeds")
    func failNext() async throws {
        phone.failNextRequest(with: .refused(status: 507, code: "full", message: "no room"))
        phone.store.set("dark", forKey: "theme")
        await cloud.advance(by: .milliseconds(100))
        #expect(phone.store.status.pendingKeyCount == 1)
        try await cloud.settle()
        #expect(phone.store.status.pendingKeyCount == 0)
        #expect(mac.store.string(forKey: "theme") == "dark")
    }
}
