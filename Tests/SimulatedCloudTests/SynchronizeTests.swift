import Foundation
import KVStore
import KVStoreTesting
import Testing

@Suite("Simulated cloud: awaiting synchronizeNow", .timeLimit(.minutes(5)))
struct SynchronizeTests {
    private let cloud = SimulatedCloud(seed: 3)

    @Test("synchronizeNow runs the cloud until the end of the round trip, and reports it")
    func report() async throws {
        let phone = try cloud.device("phone", .with { $0.isLive = false })
        let mac = try cloud.device("mac", .with { $0.isLive = false })
        phone.store.set("dark", forKey: "theme")
        phone.store.set(1, forKey: "count")
        #expect(try await phone.store.synchronizeNow() == SyncReport(sentKeyCount: 2))
        #expect(try await mac.store.synchronizeNow() == SyncReport(receivedKeyCount: 2))
        #expect(mac.store.string(forKey: "theme") == "dark")
    }

    @Test("synchronizeNow fails on a device that is offline, held or made to fail, within bounded time")
    func unreachable() async throws {
        let phone = try cloud.device("phone")
        try await cloud.settle()
        let before = cloud.now
        func code() async -> StoreError.Code? {
            do throws(StoreError) {
                _ = try await phone.store.synchronizeNow()
                return nil
            } catch {
                return error.code
            }
        }
        phone.isOffline = true
        #expect(await code() == .unreachable)
        phone.isOffline = false
        phone.hold()
        #expect(await code() == .unreachable)
        #expect(cloud.now.timeIntervalSince(before) < 1)
        phone.release()
        try await cloud.settle()
        phone.failNextRequest(with: .unauthorized("revoked"))
        #expect(await code() == .unauthorized)
        phone.failNextRequest(with: .busy(retryAfterSeconds: 1))
        #expect(await code() == .unreachable)
        #expect(await code() == nil)
    }

    @Test("several devices may wait concurrently")
    func together() async throws {
        let devices = try (0..<5).map { try cloud.device("device \($0)") }
        for device in devices { device.store.set(device.name, forKey: device.name) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices {
                group.addTask { _ = try await device.store.synchronizeNow() }
            }
            try await group.waitForAll()
        }
        try await cloud.settle()
        for device in devices {
            #expect(device.store.keys == devices.map(\.name))
        }
    }

    @Test("synchronizeNow fails without an account")
    func noAccount() async throws {
        let phone = try cloud.device("phone", .with { $0.account = nil })
        phone.store.set("dark", forKey: "theme")
        #expect(phone.store.synchronize())
        try await cloud.settle()
        let error = await #expect(throws: StoreError.self) {
            try await phone.store.synchronizeNow()
        }
        #expect(error?.code == .unauthorized)
        #expect(phone.store.status.connection == .local)
    }
}
