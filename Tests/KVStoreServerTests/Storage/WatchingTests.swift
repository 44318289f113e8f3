import Foundation
import KVStoreCore
import KVStoreLog
import KVStoreWire
import Logging
import NIOCore
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import KVStoreServer

/// The stream of changes against a model of its own.
@Suite("Watching", .engines, .timeLimit(.minutes(5)))
struct WatchingTests {
    private static let seeds: [UInt64] = [11, 12, UInt64.random(in: 0...UInt64.max)]

    private final class Signals: Watcher, Sendable {
        let signals: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() {
            (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        }

        func wake() { continuation.yield() }
    }

    /// What one watcher has received, across reconnections.
    private struct Reader {
        var position: UInt64 = 0
        var known: [StoreKey: StoreRecord] = [:]
    }

    @Test("reconnecting watchers see every change once and in order while writers write", arguments: seeds)
    func model(seed: UInt64) async throws {
        let directory = try TemporaryDirectory()
        let nodes = try TestEngine.current.nodes(in: directory.path, seed: seed)
        let engine = nodes[0]
        let store = StoreID(account: "default", name: "s")
        let epoch = try await engine.sync(Samples.request(), store: store).cursor.epoch
        let writes = 150
        var watchers: [Reader] = []
        try await withThrowingTaskGroup(of: Reader?.self) { group in
            for writer in 0..<3 {
                group.addTask {
                    var random = SplitMix64(seed: seed &+ UInt64(writer))
                    for index in 0..<writes {
                        let change = Samples.change(
                            "k\(Int.random(in: 0..<20, using: &random))",
                            Samples.stamp(Int64(index), replica: UInt64(writer + 1)),
                            Int.random(in: 0..<5, using: &random) == 0 ? nil : "v\(index)")
                        _ = try await nodes[writer % nodes.count].sync(Samples.request([change]), store: store)
                    }
                    _ = try await engine.sync(
                        Samples.request([
                            Samples.change("done \(writer)", Samples.stamp(1_000), "v")
                        ]), store: store)
                    return nil
                }
            }
            for reader in 0..<4 {
                group.addTask {
                    var random = SplitMix64(seed: seed &+ 100 &+ UInt64(reader))
                    var watcher = Reader()
                    while (0..<3).contains(where: { watcher.known[StoreKey("done \($0)")] == nil }) {
                        try await Self.watch(nodes.last!, store, epoch, &watcher, &random)
                    }
                    return watcher
                }
            }
            for try await watcher in group {
                if let watcher { watchers.append(watcher) }
            }
        }
        // Everybody has finished: with what it has not looked at yet, each knows what a pull gives.
        let pull = try await engine.sync(Samples.request(), store: store)
        let winners = pull.changes.reduce(into: [:]) { $0[$1.record.key] = $1.record }
        #expect(watchers.count == 4)
        for watcher in watchers + [Reader()] {
            var known = watcher.known
            let cursor = SyncCursor(epoch: epoch, sequence: watcher.position)
            guard let page = engine.page(of: store, after: cursor) else {
                Issue.record("a reset without a reason, seed \(seed)")
                continue
            }
            for change in page.changes { known[change.record.key] = change.record }
            #expect(known == winners, "seed \(seed)")
        }
        for node in nodes { await node.close() }
    }

    /// One connection: reads on until it is dropped after a random number of looks.
    private static func watch(
        _ engine: any StorageEngine, _ store: StoreID, _ epoch: EpochID, _ watcher: inout Reader,
        _ random: inout SplitMix64
    ) async throws {
        let registered = Signals()
        let watchers = engine.loops.randomElement(using: &random)!
        try await watchers.loop.submit { watchers.add(registered, to: store) }.get()
        defer { watchers.loop.execute { watchers.remove(registered, from: store) } }
        registered.wake()
        var looks = Int.random(in: 1...6, using: &random)
        for await _ in registered.signals {
            let cursor = SyncCursor(epoch: epoch, sequence: watcher.position)
            let page: Hub.Page
            switch engine.page(of: store, after: cursor, limits: WireLimits.page) {
            case .changes(let found, durable: _): page = found
            case .pending: continue
            case .ended:
                Issue.record("a reset without a reason")
                return
            }
            var previous = watcher.position
            for change in page.changes {
                #expect(change.sequence > previous)
                let record = change.record
                // In order of the merge rule too: nothing older follows something newer.
                if let known = watcher.known[record.key] {
                    #expect(record.supersedes(known))
                }
                previous = change.sequence
                watcher.known[record.key] = record
            }
            watcher.position = max(previous, page.cursor)
            let known = watcher.known
            if (0..<3).allSatisfy({ known[StoreKey("done \($0)")] != nil }) { return }
            looks -= 1
            if looks == 0 { return }
        }
    }
}
