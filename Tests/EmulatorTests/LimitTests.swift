import Foundation
import HTTPTypes
import KVStoreCore
import KVStoreLedger
import KVStoreWire
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import KVStoreEmulator
@testable import KVStoreServer

@Suite("Limits of the emulator", .timeLimit(.minutes(5)))
struct LimitTests {
    private static func limits(_ change: (inout EmulatorLimits) -> Void) -> EmulatorLimits {
        var limits = EmulatorLimits()
        change(&limits)
        return limits
    }

    @Test("worlds and devices are limited, and a reset makes room")
    func counts() async throws {
        let limits = Self.limits { ($0.worldCount, $0.deviceCount) = (2, 3) }
        try await EmulatorClient.run(limits: limits) { client in
            for token in ["a/1", "a/2", "b/1"] {
                #expect(try await client.execute(.get, "/v1/me", token: token).status == .ok)
            }
            let world = try await client.execute(.get, "/v1/me", token: "c/1")
            #expect(world.status.code == 507 && world.problemCode == "too-many-devices")
            #expect(try await client.administer(.delete, "/worlds/a").status == .noContent)
            #expect(try await client.execute(.get, "/v1/me", token: "c/1").status == .ok)
            let third = try await client.execute(.get, "/v1/me", token: "d/1")
            #expect(third.status.code == 507 && third.problemCode == "too-many-worlds")
            let imported = try await client.administer(.put, "/worlds/d/export", body: #"{"version":1,"stores":[]}"#)
            #expect(imported.problemCode == "too-many-worlds")
            #expect(try await client.execute(.get, "/v1/me", token: "c/1").status == .ok)
            #expect(try await client.administer(.delete, "/worlds").status == .noContent)
            #expect(try await client.execute(.get, "/v1/me", token: "d/1").status == .ok)
        }
    }

    @Test("memory is limited for writes and imports, and a reset frees it")
    func memory() async throws {
        let limits = Self.limits { $0.memoryByteCount = 10_000 }
        try await EmulatorClient.run(limits: limits) { client in
            let text = String(repeating: "x", count: 6_000)
            #expect(try await client.put(text, "k", token: "a").status == .ok)
            let second = try await client.put(text, "k", token: "b")
            #expect(second.status.code == 507 && second.problemCode == "memory-full")
            let document = try await client.administer(.get, "/worlds/a/export").text
            let imported = try await client.administer(.put, "/worlds/b/export", body: document)
            #expect(imported.status.code == 507 && imported.problemCode == "memory-full")
            // It replaces what takes the memory.
            let replaced = try await client.administer(.put, "/worlds/a/export", body: document)
            #expect(replaced.status == .ok)
            #expect(try await client.administer(.delete, "/worlds/a").status == .noContent)
            #expect(try await client.put(text, "k", token: "b").status == .ok)
        }
    }

    @Test("of ever-new worlds that are reset, little is remembered")
    func resets() throws {
        var limits = EmulatorLimits()
        limits.removedStoreCount = 100
        let emulator = try Emulator(limits: limits)
        let engine = emulator.interceptor.engine
        let ids = (0..<1_000).map { StoreID(account: "w\($0)", name: "s") }
        let remembered = try engine.read { state in
            for id in ids {
                _ = try engine.write(
                    .value(Data("v".utf8)), forKey: "k", store: id, if: .none, replica: Samples.replica, in: &state)
                try engine.remove(id, in: &state)
            }
            return ids.filter { state.ledger.history(of: $0) != nil }
        }
        #expect(remembered.count == 100 && remembered.last == ids[999])
    }

    @Test("an import may be larger than other requests, up to its own limit")
    func importSize() async throws {
        let limits = Self.limits { $0.importByteCount = 3 * 1_024 * 1_024 }
        try await EmulatorClient.run(limits: limits) { client in
            func document(_ count: Int) -> String {
                let padding = String(repeating: " ", count: count)
                return #"{"version":1,\#(padding)"stores":[]}"#
            }
            let large = try await client.administer(.put, "/worlds/a/export", body: document(2_500_000))
            #expect(large.status == .ok)
            let tooLarge = try await client.administer(.put, "/worlds/a/export", body: document(3_200_000))
            #expect(tooLarge.status.code == 413 && tooLarge.problemCode == "body-too-large")
            let write = try await client.put(String(repeating: "x", count: 2_500_000), "k", token: "a")
            #expect(write.status.code == 413)
        }
    }

    @Test("an import of more than a world can have is refused before its values are decoded")
    func importCounts() async throws {
        func values(_ count: Int) -> String {
            let valid = (0..<count).map { #"{"key":"k\#($0)","type":"integer","value":1}"# }
            return (valid + [#"{"key":"last","type":"no such type"}"#]).joined(separator: ",")
        }
        func stores(_ count: Int) -> String {
            (0..<count).map { #"{"store":"s\#($0)","values":[]}"# }.joined(separator: ",")
        }
        try await EmulatorClient.run { client in
            func detail(_ body: String) async throws -> String {
                let answer = try await client.administer(.put, "/worlds/a/export", body: body)
                #expect(answer.status == .badRequest && answer.problemCode == "invalid-import")
                return answer.text
            }
            let tooMany = "a store has more than 4096 values"
            let one = #"{"store":"s","values":[\#(values(4_096))]}"#
            #expect(try await detail(#"{"version":1,"stores":[\#(one)]}"#).contains(tooMany))
            #expect(try await detail(#"{"version":1,"store":"s","values":[\#(values(4_096))]}"#).contains(tooMany))
            #expect(
                try await detail(#"{"version":1,"stores":[\#(stores(1_024)),{"store":1}]}"#)
                    .contains("the document has more than 1024 stores"))
            let allowed = try await client.administer(
                .put, "/worlds/a/export", body: #"{"version":1,"stores":[\#(stores(1_024))]}"#)
            #expect(allowed.status == .ok, "\(allowed.text)")
        }
    }

    @Test("an import of more than the memory is refused before the rest of it is decoded")
    func importMemory() async throws {
        let limits = Self.limits { $0.memoryByteCount = 10_000 }
        try await EmulatorClient.run(limits: limits) { client in
            let text = String(repeating: "x", count: 11_000)
            let answer = try await client.administer(
                .put, "/worlds/a/export",
                body: #"""
                    {"version":1,"stores":[{"store":"s","values":[
                    {"key":"k","type":"string","value":"\#(text)"}]},{"store":1}]}
                    """#)
            #expect(answer.status.code == 507 && answer.problemCode == "memory-full")
        }
    }

    @Test("writing the same keys again and again takes no more memory")
    func rewriting() async throws {
        let limits = Self.limits { $0.memoryByteCount = 3_000_000 }
        try await EmulatorClient.run(limits: limits) { client in
            for index in 0..<40 {
                let text = "\(index)" + String(repeating: "x", count: 500_000)
                #expect(try await client.put(text, "k\(index % 3)", token: "a").status == .ok)
            }
            let metrics = try await client.execute(.get, "/metrics").text
            let match = try #require(metrics.firstMatch(of: /\nkvsd_log_bytes (\d+)/))
            #expect(try #require(Int(match.1)) < 16_000_000)
        }
    }
}
