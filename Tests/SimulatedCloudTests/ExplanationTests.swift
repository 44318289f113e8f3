import Foundation
import KVStore
import KVStoreTesting
import Testing

@Suite("Simulated cloud: explaining a key", .timeLimit(.minutes(5)))
struct ExplanationTests {
    private let cloud = SimulatedCloud(seed: 15)

    /// Virtual times depend on the seed's latencies.
    private func explanation(_ key: String) -> String {
        cloud.explain(key).replacing(#/(?m)^  \d+\.\d{3} /#, with: "  TIME ").replacing(/60\.\d+ s/, with: "60 s")
    }

    @Test("a conflict with an offline device is explained while it is offline and afterwards")
    func conflict() async throws {
        let phone = try cloud.device("phone")
        let mac = try cloud.device("mac")
        try await cloud.settle()
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        phone.isOffline = true
        phone.store.set("sepia", forKey: "theme")
        await cloud.advance(by: .seconds(60))
        mac.store.set("light", forKey: "theme")
        try await cloud.settle()
        #expect(
            explanation("theme") == """
                "theme" now:
                  the cloud: "light" of mac
                  mac: "light" of mac
                  phone (offline): "sepia" of phone, not confirmed by the cloud yet
                decisions:
                  TIME theme in the cloud: "dark" of phone was accepted because there was no other value
                  TIME theme on mac: "dark" of phone was accepted because there was no other value
                  TIME theme in the cloud: "light" of mac replaced "dark" of phone because it was \
                written 60 s later (greater stamp)
                """)
        phone.isOffline = false
        try await cloud.settle()
        #expect(
            explanation("theme") == """
                "theme" now:
                  the cloud: "light" of mac
                  mac: "light" of mac
                  phone: "light" of mac
                decisions:
                  TIME theme in the cloud: "dark" of phone was accepted because there was no other value
                  TIME theme on mac: "dark" of phone was accepted because there was no other value
                  TIME theme in the cloud: "light" of mac replaced "dark" of phone because it was \
                written 60 s later (greater stamp)
                  TIME theme in the cloud: "light" of mac stayed, not "sepia" of phone because it was \
                written 60 s later (greater stamp)
                  TIME theme on phone: "light" of mac replaced "sepia" of phone because it was \
                written 60 s later (greater stamp)
                """)
    }

    @Test("a key that was never written is explained as such")
    func neverWritten() async throws {
        _ = try cloud.device("phone")
        try await cloud.settle()
        #expect(cloud.explain("theme") == "\"theme\" was never written")
    }

    @Test("devices of several accounts, without one and before their first download are explained")
    func accounts() async throws {
        let phone = try cloud.device("phone", .with { $0.account = "A" })
        let tablet = try cloud.device("tablet", .with { $0.account = "B" })
        let visitor = try cloud.device("visitor", .with { $0.account = nil })
        phone.store.set("dark", forKey: "theme")
        try await cloud.settle()
        phone.store.removeObject(forKey: "theme")
        try await cloud.settle()
        try tablet.reinstall()
        tablet.hold()
        for device in [tablet, visitor] { device.store.set("light", forKey: "theme") }
        let lines = explanation("theme").split(separator: "\n").prefix(6)
        #expect(
            lines.joined(separator: "\n") == """
                "theme" now:
                  the cloud of A: the removal of phone
                  the cloud of B: no value
                  phone: the removal of phone
                  tablet (held): "light" of tablet, a default until the first download
                  visitor (no account): "light" of visitor
                """)
    }

    @Test("of many decisions the latest ten are listed")
    func manyDecisions() async throws {
        let phone = try cloud.device("phone")
        try await cloud.settle()
        for number in 0..<12 {
            phone.store.set(Int64(number), forKey: "count")
            try await cloud.settle()
        }
        let lines = explanation("count").split(separator: "\n")
        #expect(lines.contains("  (2 earlier ones)"))
        #expect(lines.count { $0.contains("TIME") } == 10)
    }
}
