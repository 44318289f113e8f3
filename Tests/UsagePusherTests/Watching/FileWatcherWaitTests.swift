import Foundation
import Synchronization
import Testing

@testable import UsagePusher

@Suite("Waiting for a file", .timeLimit(.minutes(5)))
struct FileWatcherWaitTests {
    /// A watcher with scripted events and a hook before it starts.
    private struct ScriptedWatcher: FileWatcher {
        var script: [WatchEvent]
        var begins: @Sendable () -> Void = {}

        func events(for paths: [WatchedPath]) -> WatchEvents {
            WatchSession.events(for: paths, limits: .quick) { session in
                begins()
                for event in script { session.post(event) }
                return {}
            }
        }
    }

    private let path = WatchedPath("/nowhere/credentials.json")

    @Test(
        "a condition met before the watch starts is seen with the first event",
        arguments: [WatchEvent.started, .degraded("no room")])
    func before(first: WatchEvent) async {
        let isThere = Mutex(false)
        let watcher = ScriptedWatcher(script: [first]) { isThere.withLock { $0 = true } }
        await watcher.wait(for: [path]) { isThere.withLock { $0 } }
        let wasBegun = isThere.withLock { $0 }
        #expect(wasBegun)
    }

    @Test("the condition is checked on every event until it is met")
    func asking() async {
        var answers = [false, false, true]
        let watcher = ScriptedWatcher(script: [.degraded("no room"), .started, .changed([path])])
        await watcher.wait(for: [path]) { answers.removeFirst() }
        #expect(answers.isEmpty)
    }

    @Test("a file written later is seen, and cancellation ends the wait")
    func realFile() async throws {
        let directory = try WatchedDirectory()
        let file = directory.at("credentials.json")
        let (asked, ask) = AsyncStream<Void>.makeStream()
        let waiting = Task {
            await SystemFileWatcher(limits: .quick).wait(for: [WatchedPath(file)]) {
                ask.yield()
                return FileManager.default.fileExists(atPath: file)
            }
        }
        for await _ in asked { break }
        try directory.write("{}", to: file)
        await waiting.value
        let endless = Task {
            await SystemFileWatcher(limits: .quick).wait(for: [WatchedPath(file)]) { false }
        }
        endless.cancel()
        await endless.value
    }
}
