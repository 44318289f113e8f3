import Foundation
import KVStore
import KVStoreCore
import KVStoreLedger
import Synchronization
import Testing

@testable import KVStoreTesting

@Suite("Simulated cloud: why a value won", .timeLimit(.minutes(5)))
struct DecisionTests {
    private let cloud = SimulatedCloud(seed: 6)

    private func last(_ key: String, at place: CloudDecision.Place) throws -> CloudDecision {
        try #require(cloud.decisions.last { $0.key == key && $0.place == place })
    }

    @Test("the later of two writes wins in the cloud, and the decision explains why")
    func laterWins() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        phone.store.set("dark", forKey: "theme")
        #expect(cloud.decisions.isEmpty)
        try await cloud.settle()
        #expect(try last("theme", at: .cloud).reason == .nothingThere)
        await cloud.advance(by: .seconds(2))
        mac.store.set("light", forKey: "theme")
        try await cloud.settle()
        let decision = try last("theme", at: .cloud)
        #expect(decision.winner == .incoming)
        #expect(decision.reason == .greaterStamp)
        #expect(decision.incoming?.writer == "mac")
        #expect(decision.present?.value == .string("dark"))
        #expect(
            decision.description.hasPrefix("theme in the cloud: \"light\" of mac replaced \"dark\" of phone because"))
        #expect(try last("theme", at: .device("phone")).winner == .incoming)
    }

    @Test("an older write that arrives late loses")
    func olderLoses() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        phone.isOffline = true
        phone.store.set("old", forKey: "theme")
        await cloud.advance(by: .seconds(10))
        mac.store.set("new", forKey: "theme")
        try await cloud.settle()
        phone.isOffline = false
        try await cloud.settle()
        let decision = try last("theme", at: .cloud)
        #expect(decision.winner == .present)
        #expect(decision.reason == .greaterStamp)
        #expect(decision.incoming?.value == .string("old"))
        #expect(decision.description.contains("stayed, not \"old\" of phone"))
    }

    @Test("a default set before the first download gives way to a value, not to a removal")
    func provisional() async throws {
        let phone = try cloud.device("phone")
        phone.store.set("dark", forKey: "theme")
        phone.store.set("gone", forKey: "removed")
        try await cloud.settle()
        phone.store.removeObject(forKey: "removed")
        try await cloud.settle()
        let mac = try cloud.device("mac")
        for key in ["theme", "removed", "own"] { mac.store.set("default", forKey: key) }
        try await cloud.settle()
        let theme = try last("theme", at: .device("mac"))
        #expect(theme.reason == .provisionalGaveWay)
        #expect(theme.winner == .incoming)
        let kept = cloud.decisions.filter {
            $0.reason == .provisionalKept && $0.place == .device("mac")
        }
        #expect(kept.map(\.key).sorted() == ["own", "removed"])
        #expect(kept.allSatisfy { $0.winner == .present })
        #expect(phone.store.string(forKey: "removed") == "default")
    }

    @Test("a removal is a decision like a value")
    func removal() async throws {
        let phone = try cloud.device("phone")
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        phone.store.removeObject(forKey: "theme")
        try await cloud.settle()
        let decision = try last("theme", at: .cloud)
        #expect(decision.incoming != nil && decision.incoming?.value == nil)
        #expect(decision.description.contains("the removal of phone replaced"))
    }

    @Test("a write past the device's quota is a decision with the value that stays")
    func deviceQuota() async throws {
        let phone = try cloud.device("phone", .with { $0.limits = StoreLimits(totalByteCount: 100) })
        phone.store.set("short", forKey: "note")
        try await cloud.settle()
        phone.store.set(Data(count: 200), forKey: "note")
        try await cloud.settle()
        let decision = try last("note", at: .device("phone"))
        #expect(decision.reason == .refusedForQuota(limit: nil))
        #expect(decision.present?.value == .string("short"))
    }

    @Test("a write past the cloud's ceiling is notified with reason 2, and the key stays pending")
    func cloudQuota() async throws {
        let generous = StoreLimits(totalByteCount: 10_000_000)
        let phone = try cloud.device("phone", .with { $0.limits = generous })
        for number in 0..<5 { phone.store.set(Data(count: 1_000_000), forKey: "big \(number)") }
        try await cloud.settle()
        let refusals = cloud.decisions.filter {
            $0.reason == .refusedForQuota(limit: Int64(StoreLimits.ceiling.totalByteCount))
        }
        #expect(refusals.map(\.key) == ["big 4"])
        #expect(phone.notifications.map(\.reason) == [.quotaViolationChange])
        #expect(phone.store.status.pendingKeyCount == 1)
    }

    @Test("a stamp from the future is rejected, reissued and then accepted")
    func clockRefusal() async throws {
        let phone = try cloud.device("phone")
        try await cloud.settle()
        phone.clockError = .seconds(3_600)
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        let reasons = cloud.decisions.filter { $0.key == "theme" }.map(\.reason)
        #expect(reasons == [.refusedForClock, .nothingThere])
        #expect(phone.store.status.pendingKeyCount == 0)
    }

    @Test("for equal stamps the greater bytes win in any order")
    func equalStamps() async throws {
        let phone = try cloud.device("phone")
        try await cloud.settle()
        let driver = try #require(cloud.hub.withLock { $0.streams.first?.driver }, "a live device has a stream")
        let stamp = StoreStamp(milliseconds: 1, counter: 0, replica: phone.store.status.replica)
        for text in ["a", "b", "a"] {
            let value = PropertyListValue.string(text).encoded()
            let record = StoreRecord(key: StoreKey("copied"), stamp: stamp, content: .value(value))
            cloud.receive(SyncRequest(replica: stamp.replica, since: nil, changes: [record]), id: 0, from: driver)
        }
        let decisions = cloud.decisions.filter { $0.key == "copied" && $0.place == .cloud }
        #expect(decisions.map(\.reason) == [.nothingThere, .greaterBytes, .greaterBytes])
        #expect(decisions.map(\.winner) == [.incoming, .incoming, .present])
    }

    @Test("a key whose tombstone the cloud has forgotten is removed, with a decision")
    func forgottenRemoval() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        mac.isOffline = true
        phone.store.removeObject(forKey: "theme")
        try await cloud.settle()
        let time = Int64(cloud.now.timeIntervalSince1970 + 91 * 86_400) * 1_000
        try cloud.hub.withLock { hub in
            for store in hub.ledger.allStores {
                try hub.ledger.collectTombstones(of: store, now: time)
            }
        }
        mac.isOffline = false
        try await cloud.settle()
        #expect(mac.store.object(forKey: "theme") == nil)
        let decision = try last("theme", at: .device("mac"))
        #expect(decision.reason == .goneFromCloud)
        #expect(decision.present?.value == .string("dark"))
    }
}
