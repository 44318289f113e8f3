import Foundation
import KVStoreCore
import Logging
import ServerTestSupport
import TestSupport
import Testing

@testable import KVStoreServer

/// The stream of changes against a model of its own.
@Suite("Watching", .timeLimit(.minutes(5)))
struct WatchingTests {
    private static let seeds: [UInt64] = [11, 12, UInt64.random(in: 0...UInt64.max)]

    /// What one watcher has been told, across reconnections.
    private struct Watcher {
        var position: UInt64 = 0
        var known: [String: Record] = [:]
    }

    @Test(
        "watchers that come, go and come back see no gap, no double, in order, while writers write",
        arguments: seeds)
    func model(seed: UInt64) async throws {
        let folder = try TemporaryDirectory()
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        var options = StorageEngine.Options()
        options.now = { Samples.now }
        let keeper = try StorageEngine(
            storage: FileLogStorage(directory: folder.path), options: options, seed: seed,
            logger: logger)
        let store = StoreID(account: "default", name: "s")
        let epoch = try await keeper.sync(Samples.request(), store: store).epoch
        let writes = 150
        var watchers: [Watcher] = []
        try await withThrowingTaskGroup(of: Watcher?.self) { group in
            for writer in 0..<3 {
                group.addTask {
                    var random = SplitMix64(seed: seed &+ UInt64(writer))
                    for index in 0..<writes {
                        let change = Samples.change(
                            "k\(Int.random(in: 0..<20, using: &random))",
                            Samples.stamp(Int64(index), replica: UInt64(writer + 1)),
                            Int.random(in: 0..<5, using: &random) == 0 ? nil : "v\(index)")
                        _ = try await keeper.sync(Samples.request([change]), store: store)
                    }
                    _ = try await keeper.sync(
                        Samples.request([
                            Samples.change("done \(writer)", Samples.stamp(1_000), "v")
                        ]), store: store)
                    return nil
                }
            }
            for reader in 0..<4 {
                group.addTask {
                    var random = SplitMix64(seed: seed &+ 100 &+ UInt64(reader))
                    var watcher = Watcher()
                    while (0..<3).contains(where: { watcher.known["done \($0)"] == nil }) {
                        try await Self.watch(keeper, store, epoch, &watcher, &random)
                    }
                    return watcher
                }
            }
            for try await watcher in group {
                if let watcher { watchers.append(watcher) }
            }
        }
        // Everybody has finished: with what it has not looked at yet, each knows what a pull gives.
        let pull = try await keeper.sync(Samples.request(), store: store)
        let winners = pull.changes.reduce(into: [:]) { $0[$1.key] = $1.record }
        #expect(watchers.count == 4)
        for watcher in watchers + [Watcher()] {
            var known = watcher.known
            guard
                case .page(let page) = try await keeper.news(
                    of: store, epoch: epoch, after: watcher.position)
            else {
                Issue.record("a reset without a reason, seed \(seed)")
                continue
            }
            for change in page.changes { known[change.key] = change.record }
            #expect(known == winners, "seed \(seed)")
        }
        await keeper.close()
    }

    /// One connection: reads on until it is dropped after a random number of looks.
    private static func watch(
        _ keeper: StorageEngine, _ store: StoreID, _ epoch: String, _ watcher: inout Watcher,
        _ random: inout SplitMix64
    ) async throws {
        let registered = keeper.watchers.add(store)
        defer { keeper.watchers.remove(registered) }
        registered.continuation.yield(.news)
        var looks = Int.random(in: 1...6, using: &random)
        for await _ in registered.signals {
            guard
                case .page(let page) = try await keeper.news(
                    of: store, epoch: epoch, after: watcher.position)
            else {
                Issue.record("a reset without a reason")
                return
            }
            var previous = watcher.position
            for change in page.changes {
                let seq = try #require(change.seq)
                #expect(seq > previous)
                let record = try #require(change.record)
                // In order of the merge rule too: nothing older follows something newer.
                if let known = watcher.known[change.key] {
                    #expect(record.supersedes(known))
                }
                previous = seq
                watcher.known[change.key] = record
            }
            watcher.position = max(previous, page.cursor)
            let known = watcher.known
            if (0..<3).allSatisfy({ known["done \($0)"] != nil }) { return }
            looks -= 1
            if looks == 0 { return }
        }
    }
}
