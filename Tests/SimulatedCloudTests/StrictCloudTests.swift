import KVStore
import KVStoreTesting
import Testing

@Suite("Strict clouds")
struct StrictCloudTests {
    @Test("a dropped write fails the next settling with device, key and limit, once")
    func droppedWrite() async throws {
        let cloud = SimulatedCloud(seed: 1)
        cloud.isStrict = true
        let phone = try cloud.device("phone", .with { $0.limits.totalByteCount = 10 })
        phone.store.set("12345", forKey: "a")
        try await cloud.settle()
        phone.store.set("123456", forKey: "b")
        let error = await #expect(throws: CloudError.self) { try await cloud.settle() }
        let text = error?.description ?? ""
        #expect(text.contains("phone: "))
        #expect(text.contains("key b"))
        #expect(text.contains("the limit is 10"))
        try await cloud.settle()
        #expect(phone.store.string(forKey: "b") == nil)
    }

    @Test("other clouds leave it at the notification, as Apple's class does")
    func silence() async throws {
        let cloud = SimulatedCloud(seed: 1)
        let phone = try cloud.device("phone", .with { $0.limits.totalByteCount = 10 })
        phone.store.set("12345678901", forKey: "b")
        try await cloud.settle()
        #expect(phone.notifications.map(\.reason) == [.quotaViolationChange])
    }
}
