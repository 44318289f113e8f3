import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreWire
import ServerTestSupport
import Testing

@testable import KVStoreEmulator
import KVStoreServer

/// Explanations without their times.
@Suite("Why a value won in the emulator", .timeLimit(.minutes(5)))
struct DecisionTests {
    private static let now = Int64(Date().timeIntervalSince1970 * 1_000)
    private static let phone = ReplicaID(rawValue: 1)
    private static let desk = ReplicaID(rawValue: 2)

    /// A write of some milliseconds ago; nil is a removal.
    private static func change(_ value: String?, ago: Int64 = 0, _ replica: ReplicaID, key: String = "k") -> StoreRecord
    {
        StoreRecord(
            key: StoreKey(key), stamp: StoreStamp(milliseconds: now - ago, counter: 0, replica: replica),
            content: value.map { .value(PropertyListValue.string($0).encoded()) } ?? .tombstone)
    }

    @Test("the later of two conflicting writes stays when the earlier one arrives last")
    func conflict() async throws {
        try await EmulatorClient.run { client in
            try await client.sync([Self.change("light", Self.desk)], replica: Self.desk, token: "w/desk")
            let late = Self.change("dark", ago: 1_500, Self.phone)
            try await client.sync([late], replica: Self.phone, token: "w/phone")
            let found = try await client.explanation("k")
            #expect(found.reasons == ["nothingThere", "greaterStamp"])
            #expect(found.winners == ["incoming", "present"])
            let last = try #require(found.decisions.last)
            #expect(last["device"] as? String == "phone")
            let incoming = try #require(last["incoming"] as? [String: Any])
            #expect(incoming["type"] as? String == "string" && incoming["writer"] as? String == "phone")
            #expect(incoming["value"] as? String == "dark")
            #expect(incoming["stamp"] as? String == late.stamp.description)
            #expect(incoming["time"] as? Int64 == late.stamp.milliseconds)
            #expect(
                last["text"] as? String == """
                    k in s: "light" of desk stayed, not "dark" of phone because it was written \
                    1.5 s later (greater stamp)
                    """)
            #expect(
                found.text == """
                    "k" now:
                      the emulator: "light" of desk
                    decisions:
                      TIME k in s: "light" of desk was accepted because there was no other value
                      TIME k in s: "light" of desk stayed, not "dark" of phone because it was \
                    written 1.5 s later (greater stamp)
                    """)
            let present = try #require(found.fields["present"] as? [String: Any])
            #expect(present["value"] as? String == "light" && present["seq"] as? Int == 1)
        }
    }

    @Test("a value that is sent again, or written when it is there, is no decision")
    func equalValue() async throws {
        try await EmulatorClient.run { client in
            let change = Self.change("dark", Self.phone)
            for _ in 0..<3 {
                try await client.sync([change], replica: Self.phone, token: "w/phone")
            }
            try await client.put("dark", "k", token: "w/desk")
            #expect(try await client.explanation("k").reasons == ["nothingThere"])
        }
    }

    @Test("for equal stamps the greater bytes win")
    func equalStamps() async throws {
        try await EmulatorClient.run { client in
            for value in ["a", "b", "a"] {
                try await client.sync([Self.change(value, Self.phone)], replica: Self.phone, token: "w/phone")
            }
            let found = try await client.explanation("k")
            #expect(found.reasons == ["nothingThere", "greaterBytes", "greaterBytes"])
            #expect(found.winners == ["incoming", "incoming", "present"])
        }
    }

    @Test("a removal is a decision, and an older value loses against it")
    func tombstone() async throws {
        try await EmulatorClient.run { client in
            try await client.put("dark", "k", token: "w/phone")
            _ = try await client.execute(.delete, "/v1/stores/s/keys/k", token: "w/desk")
            try await client.sync([Self.change("old", ago: 60_000, Self.phone)], replica: Self.phone, token: "w/phone")
            let found = try await client.explanation("k")
            #expect(found.winners == ["incoming", "incoming", "present"])
            let removal = try #require(found.decisions[1]["incoming"] as? [String: Any])
            #expect(removal["deleted"] as? Bool == true && removal["value"] == nil)
            #expect(found.text.contains("the removal of desk replaced \"dark\" of phone"))
            #expect(found.text.contains("the removal of desk stayed, not \"old\" of phone"))
            #expect(found.text.contains("the emulator: the removal of desk"))
            let present = try #require(found.fields["present"] as? [String: Any])
            #expect(present["deleted"] as? Bool == true)
        }
    }

    @Test(
        "a rejected change is a decision with its reason",
        arguments: [
            ("k", Int64(-3_600_000), 1, "refusedForClock", "ahead of the emulator's clock"),
            (String(repeating: "k", count: 129), Int64(0), 1, "refusedForKey", "the key is invalid"),
            ("k", Int64(0), 1_100_000, "refusedForQuota", "the quota is \(StoreLimits.ceiling.valueByteCount)"),
        ])
    func refusals(
        key: String, ago: Int64, count: Int, reason: String, sentence: String
    ) async throws {
        try await EmulatorClient.run { client in
            let change = Self.change(String(repeating: "x", count: count), ago: ago, Self.phone, key: key)
            try await client.sync([change], replica: Self.phone, token: "w/phone")
            let found = try await client.explanation(key)
            #expect(found.reasons == [reason] && found.winners == ["present"])
            #expect(found.fields["present"] is NSNull)
            #expect(found.text.contains("of phone was not accepted because"))
            #expect(found.text.contains(sentence), "\(found.text)")
            #expect(found.text.contains("the emulator: no value"))
        }
    }

    @Test("a write with PUT that the quota refuses is a decision with the value that stays")
    func refusedWrite() async throws {
        try await EmulatorClient.run { client in
            try await client.put("short", "k", token: "w/phone")
            let long = String(repeating: "x", count: 1_100_000)
            #expect(try await client.put(long, "k", token: "w/desk").status.code == 507)
            let found = try await client.explanation("k")
            #expect(found.reasons == ["nothingThere", "refusedForQuota"])
            #expect(found.decisions.last?["device"] as? String == "desk")
            #expect(found.text.contains("\"short\" of phone stayed because the quota is"))
        }
    }

    @Test("writers are named by their replicas, by who wrote through HTTP, or as the emulator")
    func writers() async throws {
        try await EmulatorClient.run { client in
            let document = #"{"version":1,"stores":[{"store":"s","values":[{"key":"k","type":"bool","value":true}]}]}"#
            _ = try await client.administer(.put, "/worlds/w/export", body: document)
            #expect(try await client.explanation("k").text.contains("emulator: true of emulator"))
            try await client.put("dark", "k", token: "w/phone")
            // A replica relays what another one wrote, which the emulator has not met.
            let foreign = Self.change("foreign", ago: 5_000, ReplicaID(rawValue: 0xAB))
            try await client.sync([foreign], replica: Self.desk, token: "w/desk")
            try await client.sync(replica: foreign.stamp.replica, token: "w/tablet")
            let relayed = Self.change("relayed", ago: 4_000, foreign.stamp.replica)
            try await client.sync([relayed], replica: Self.desk, token: "w/desk")
            let found = try await client.explanation("k")
            #expect(
                found.decisions.compactMap {
                    ($0["incoming"] as? [String: Any])?["writer"] as? String
                }
                    == ["phone", "replica 00000000000000ab", "tablet"])
            #expect(found.decisions.map { $0["device"] as? String } == ["phone", "desk", "desk"])
            #expect(found.text.contains("\"dark\" of phone replaced true of emulator"))
        }
    }

    @Test("long values are kept as their beginning and their length")
    func longValues() async throws {
        try await EmulatorClient.run { client in
            let long = String(repeating: "x", count: 5_000)
            try await client.put(long, "k", token: "w/phone")
            try await client.put("short", "k", token: "w/phone")
            let found = try await client.explanation("k")
            let summary = try #require(found.decisions[1]["present"] as? [String: Any])
            #expect(summary["type"] as? String == "string" && summary["value"] == nil)
            #expect(summary["summary"] as? String == "\"\(long.prefix(40))…\"")
            #expect(summary["byteCount"] as? Int == PropertyListValue.string(long).encoded().count)
            #expect(found.text.contains("\"short\" of phone replaced \"\(long.prefix(40))…\""))
        }
    }

    @Test("16 decisions of a key are kept, of which the latest ten are in the text")
    func boundOfKey() async throws {
        try await EmulatorClient.run { client in
            for index in 0..<20 { try await client.put("\(index)", "k", token: "w/phone") }
            let found = try await client.explanation("k")
            let values = found.decisions.map { ($0["incoming"] as? [String: Any])?["value"] }
            #expect(values.compactMap { $0 as? String } == (4..<20).map(String.init))
            #expect(found.text.contains("  (6 earlier ones)\n"))
            #expect(found.text.components(separatedBy: "TIME").count == 11)
        }
    }

    @Test("of all keys the oldest decisions are forgotten first, by number and by memory")
    func boundOfAll() async throws {
        for change: (inout EmulatorLimits) -> Void in [
            { $0.decisionCount = 4 }, { $0.decisionByteCount = 4 * 650 },
        ] {
            var limits = EmulatorLimits()
            change(&limits)
            try await EmulatorClient.run(limits: limits) { client in
                // Far more than are remembered, all of one key, and then of others.
                for index in 0..<1_500 { try await client.put("\(index)", "k", token: "v") }
                for index in 0..<3 { try await client.put("1", "k\(index)", token: "w") }
                let last = try await client.explanation("k", world: "v")
                #expect(last.decisions.count == 1 && last.text.contains("\"1499\" of device"))
                for index in 3..<8 { try await client.put("1", "k\(index)", token: "w") }
                let counts = try await [0, 3, 4, 7].asyncMap {
                    try await client.explanation("k\($0)", world: "w").decisions.count
                }
                #expect(counts == [0, 0, 1, 1])
                // What the decision named is no longer known.
                let present = try await client.explanation("k", world: "v")
                #expect(present.decisions.isEmpty)
                #expect(present.text == "\"k\" now:\n  the emulator: \"1499\" of emulator")
            }
        }
    }

    @Test("decisions are forgotten with their world or store, and by an import")
    func forgetting() async throws {
        try await EmulatorClient.run { client in
            func write() async throws {
                for world in ["v", "w"] {
                    try await client.sync(
                        [Self.change("dark", ago: 5_000, Self.phone)], replica: Self.phone, token: "\(world)/phone")
                    try await client.put("light", "k", token: "\(world)/desk")
                }
            }
            func counts() async throws -> [Int] {
                try await ["v", "w"].asyncMap { world in try await client.explanation("k", world: world).decisions.count
                }
            }
            try await write()
            #expect(try await counts() == [2, 2])
            _ = try await client.administer(.delete, "/worlds/v")
            try await client.put("new", "k", token: "v/desk")
            #expect(try await counts() == [1, 2])
            let document = try await client.administer(.get, "/worlds/w/export").text
            _ = try await client.administer(.put, "/worlds/w/export", body: document)
            #expect(try await counts() == [1, 0])
            try await client.put("new", "k", token: "w/desk")
            _ = try await client.execute(.delete, "/v1/stores/s", token: "v/desk")
            try await client.put("newer", "k", token: "v/desk")
            #expect(try await counts() == [1, 1])
            _ = try await client.administer(.delete, "/worlds")
            for world in ["v", "w"] { try await client.put("last", "k", token: "\(world)/desk") }
            #expect(try await counts() == [1, 1])
            // So are the names of replicas.
            try await client.sync([Self.change("old", ago: 60_000, Self.phone)], replica: Self.desk, token: "w/desk")
            let text = try await client.explanation("k", world: "w").text
            #expect(text.contains("not \"old\" of replica 0000000000000001"))
        }
    }

    @Test("the names of replicas are limited in number")
    func boundOfWriters() {
        var limits = EmulatorLimits()
        limits.decisionCount = 8
        let log = DecisionLog(limits, replica: ReplicaID(rawValue: 99))
        for number in 1...20 {
            log.register(ReplicaID(rawValue: UInt64(number)), of: "device", world: "w")
        }
        let known = (1...20).count { number in
            let record = Self.change("x", ReplicaID(rawValue: UInt64(number)))
            return log.writer(of: record, in: StoreID(account: "w", name: "s")) == "device"
        }
        #expect(known == 8)
    }
}

/// The answer to `GET …/explanation`.
struct Explanation {
    var fields: [String: Any] = [:]

    var decisions: [[String: Any]] { fields["decisions"] as? [[String: Any]] ?? [] }
    var reasons: [String] { decisions.compactMap { $0["reason"] as? String } }
    var winners: [String] { decisions.compactMap { $0["winner"] as? String } }

    var text: String {
        (fields["text"] as? String ?? "").replacing(#/(?m)^  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /#, with: "  TIME ")
    }
}

extension EmulatorClient {
    func explanation(_ key: String, world: String = "w") async throws -> Explanation {
        let answer = try await administer(.get, "/worlds/\(world)/stores/s/keys/\(key)/explanation")
        let object = try JSONSerialization.jsonObject(with: Data(answer.text.utf8))
        return Explanation(fields: try #require(object as? [String: Any], "\(answer.text)"))
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
