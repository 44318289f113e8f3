import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP
import SnapshotModels
import Synchronization
import TerminalText
import UsagePusher

/// `usage-push --watch`: until a signal ends it. Joining or leaving an account meanwhile opens the
/// store anew.
struct PushWatch {
    let environment: StoreEnvironment
    let storeName: String
    let volume: Console.Volume

    func run(_ builder: SnapshotBuilder) async throws {
        let tally = PushTally()
        let signals = EndSignals()
        if volume > .quiet {
            let names = builder.reports.map(\.providerName).joined(separator: ", ")
            Console.note("watching \(VisibleText.escape(names)); stop with Control-C")
        }
        let watching = Task { try await watch(builder, tally: tally) }
        let stopping = Task {
            await signals.wait()
            watching.cancel()
        }
        defer { stopping.cancel() }
        try await watching.value
        if volume > .quiet { Console.note(tally.summary) }
    }

    /// Until the task is cancelled.
    private func watch(_ builder: SnapshotBuilder, tally: PushTally) async throws {
        while true {
            let sink = try open()
            await push(builder, to: sink, tally: tally)
            sink.close()
            if Task.isCancelled { return }
            if volume > .quiet { Console.note("the account has changed") }
        }
    }

    private func open() throws -> StoreSink {
        do throws(StoreError) {
            return try StoreSink(environment: environment, storeName: storeName, isLive: true)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Until the account changes or the task is cancelled.
    private func push(_ builder: SnapshotBuilder, to sink: StoreSink, tally: PushTally) async {
        let loop = PushLoop(builder: builder, sink: sink) { report in
            tally.add(report)
            tell(report)
        }
        let connections = sink.store.connectionChanges
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await loop.run() }
            group.addTask { await tell(connections) }
            await waitForAccount(otherThan: sink.credentials)
            group.cancelAll()
        }
    }

    private func tell(_ report: PushReport) {
        switch report {
        case .pushed(let snapshot, let reason, let receipt):
            guard volume > .quiet else { return }
            let size = volume > .usual ? PushText.size(receipt) : ""
            Console.note(PushText.line(snapshot, reason, zone: .current) + size)
        case .failed(let reason): Console.report("push failed, trying again: \(reason)")
        case .degraded(let reason): Console.report(reason)
        case .empty:
            if volume > .quiet { Console.note("nothing to push yet; see: usage-push sources") }
        }
    }

    private func tell(_ connections: AsyncStream<StoreStatus.Connection>) async {
        var wasOffline = false
        for await connection in connections {
            switch connection {
            case .offline(let reason):
                if !wasOffline, volume > .quiet {
                    Console.note("offline, pushes wait here: \(VisibleText.escape(reason))")
                }
                wasOffline = true
            case .connected:
                if wasOffline || volume > .usual, volume > .quiet { Console.note("connected") }
                wasOffline = false
            case .local, .idle: break
            }
        }
    }

    /// Until an account is joined or left, or the task is cancelled. A file that cannot be used is left alone: the
    /// store that is open still works.
    private func waitForAccount(otherThan opened: Credentials?) async {
        await SystemFileWatcher().wait(for: [WatchedPath(environment.credentialsFile.path)]) {
            environment.hasAnotherAccount(than: opened)
        }
    }
}

/// How many pushes there were, and the last one.
private final class PushTally: Sendable {
    private let state = Mutex((count: 0, last: SyncedUsageSnapshot?.none))

    func add(_ report: PushReport) {
        guard case .pushed(let snapshot, _, _) = report else { return }
        state.withLock { $0 = ($0.count + 1, snapshot) }
    }

    var summary: String {
        let (count, last) = state.withLock { $0 }
        guard let last else { return "stopped; nothing was pushed" }
        let times = count == 1 ? "1 push" : "\(count) pushes"
        let time = PushText.time(last.syncTimestamp, zone: .current)
        return "stopped after \(times), the last at \(time): \(PushText.providers(last))"
    }
}
