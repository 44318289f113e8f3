import Foundation
import KVStore
import KVStoreHTTP
import Testing

@Suite("UBIQUITY_STRICT")
struct StrictVariableTests {
    @Test("a write past the quota stops the program if it is 1, and is dropped otherwise")
    func stop() async throws {
        await #expect(processExitsWith: .failure) { try Self.exceedQuota(strict: "1") }
        await #expect(processExitsWith: .success) { try Self.exceedQuota(strict: "0") }
    }

    private static func exceedQuota(strict: String) throws {
        let home = FileManager.default.temporaryDirectory
            .appending(path: "ubiquity-test-\(UUID().uuidString)").path(percentEncoded: false)
        defer { try? FileManager.default.removeItem(atPath: home) }
        let environment = StoreEnvironment(home: home, variables: ["UBIQUITY_STRICT": strict])
        let store = try UbiquitousKeyValueStore.open(environment: environment, limits: StoreLimits(totalByteCount: 10))
        store.set("12345678901", forKey: "key")
        store.close()
    }
}
