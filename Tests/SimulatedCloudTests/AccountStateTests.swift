import Foundation
import KVStore
import KVStoreTesting
import Testing

@Suite("Simulated cloud: awaiting an account", .timeLimit(.minutes(5)))
struct AccountStateTests {
    private let cloud = SimulatedCloud(seed: 16)

    @Test("a device that signs in is joining until its first download is complete")
    func joining() async throws {
        let mac = try cloud.device("mac", .with { $0.account = "A" })
        mac.store.set("dark", forKey: "theme")
        let phone = try cloud.device("phone", .with { $0.account = nil })
        try await cloud.settle()
        #expect(mac.accountState == .joined)
        #expect(phone.accountState == .signedOut)
        try phone.changeAccount(to: "A")
        #expect(phone.accountState == .joining)
        let before = cloud.now
        try await cloud.run { phone.accountState == .joined }
        #expect(phone.store.string(forKey: "theme") == "dark")
        #expect((0..<1).contains(cloud.now.timeIntervalSince(before)))
        try phone.changeAccount(to: nil)
        #expect(phone.accountState == .signedOut)
    }

    @Test("an app that changes the account itself has the state of its store")
    func ownChange() async throws {
        let phone = try cloud.device("phone", .with { $0.account = nil })
        try phone.store.changeAccount(to: phone.configuration(forAccount: "A"))
        #expect(phone.accountState == .joining)
        try await cloud.settle()
        #expect(phone.accountState == .joined)
    }

    @Test("run stops at the event that meets its condition, and a condition that holds costs nothing")
    func condition() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        mac.delay = .seconds(5)
        phone.store.set("dark", forKey: "theme")
        try await cloud.run { phone.store.status.pendingKeyCount == 0 }
        #expect(mac.store.string(forKey: "theme") == nil)
        let before = cloud.now
        try await cloud.run { phone.store.status.pendingKeyCount == 0 }
        #expect(cloud.now == before)
    }

    @Test("a condition that nothing under way can meet is an error with the held messages")
    func conditionNotMet() async throws {
        let phone = try cloud.device("phone")
        phone.hold()
        let error = await #expect(throws: CloudError.self) {
            try await cloud.run { phone.accountState == .joined }
        }
        #expect(error == .conditionNotMet(held: ["a request of phone with no keys"]))
        phone.release()
        try await cloud.settle()
        let never = await #expect(throws: CloudError.self) { try await cloud.run { false } }
        #expect(never?.description == "the condition does not hold, and nothing is under way")
    }
}
