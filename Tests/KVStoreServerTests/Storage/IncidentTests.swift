import Foundation
import KVStoreCore
import KVStoreLedger
import KVStoreLog
import KVStoreSimulation
import KVStoreWire
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import KVStoreServer

@Suite("Incidents", .timeLimit(.minutes(5)))
struct IncidentTests {
    private let log = LogLines()
    private let storage = SimulatedDisk().storage()

    private func opened() throws -> LogEngine {
        var options = LogEngine.Options()
        options.ledger.segmentByteCount = 65_536
        options.recoveryDelay = .milliseconds(1)
        options.now = { Samples.now }
        return try LogEngine(storage: storage, options: options, seed: 7, logger: log.logger)
    }

    private func put(_ engine: LogEngine, _ key: String) async throws {
        _ = try await engine.write(
            .value(Data("v".utf8)), forKey: StoreKey(key),
            store: StoreID(account: "default", name: "notes"), replica: Samples.replica)
    }

    @Test("a full disk is logged once with what to do, and its end once")
    func fullDisk() async throws {
        let engine = try opened()
        storage.aim(.fail(ENOSPC), at: .create, times: 3)
        for key in ["a", "b", "c"] {
            await #expect(throws: Problem.self) { try await put(engine, key) }
        }
        #expect(engine.metrics.counters.requestsRefusedForSpace == 3)
        #expect(log.all.filter { $0.contains("the disk is full") }.count == 1, "\(log.all)")
        #expect(log.all.contains { $0.contains("free space") })
        let open = try #require(engine.metrics.counters.incident)
        #expect(open.recovered == nil && open.time == Samples.now)
        for key in ["d", "e"] { try await put(engine, key) }
        #expect(log.all.filter { $0 == "writes are accepted again" }.count == 1)
        #expect(engine.metrics.counters.incident?.recovered == Samples.now)
        await engine.close()
    }

    @Test("a failed sync is logged once, and its end once")
    func failedSync() async throws {
        let engine = try opened()
        try await put(engine, "a")
        storage.aim(.losePages, at: .sync)
        await #expect(throws: Problem.self) { try await put(engine, "b") }
        try await wait { !engine.metrics.counters.hasOpenIncident }
        #expect(log.all.filter { $0.contains("no writes until") }.count == 1, "\(log.all)")
        #expect(log.all.filter { $0 == "writes are accepted again" }.count == 1)
        try await put(engine, "c")
        await engine.close()
    }
}
