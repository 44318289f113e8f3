import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import SnapshotModels
import Synchronization
import TerminalText
import UsagePusher
import UsageState

/// `usage-push --watch`: pushes until a signal; reopens the store when an account is joined or left.
struct PushWatch {
    let environment: StoreEnvironment
    let storeName: String
    /// This device's.
    let deviceID: String?
    let volume: Console.Volume

    func run(_ builder: SnapshotBuilder) async throws {
        let tally = PushTally()
        let signals = EndSignals()
        say("watching \(PushMessages.names(builder.reports)); stop with Control-C")
        let watching = Task {
            while !Task.isCancelled {
                let sink = try open()
                await push(builder, to: sink, tally: tally)
                sink.close()
                if !Task.isCancelled { say("the account has changed") }
            }
        }
        // Beside the pushes: what a plug-in gives is a changed file.
        let plugins = Task { await builder.pluginRuns?.run() }
        let stopping = Task {
            await signals.wait()
            watching.cancel()
        }
        defer { stopping.cancel() }
        let ended = await watching.result
        plugins.cancel()
        await plugins.value
        try ended.get()
        say(tally.summary)
    }

    private func open() throws -> StoreSink {
        do throws(StoreError) {
            return try StoreSink(environment: environment, storeName: storeName, deviceID: deviceID, isLive: true)
        } catch {
            throw CommandFailure.push(error)
        }
    }

    /// Returns when the account changes or the task is cancelled.
    private func push(_ builder: SnapshotBuilder, to sink: StoreSink, tally: PushTally) async {
        let alerts = builder.device.id.map {
            PushAlerts(sink: sink, deviceID: $0, environment: environment, storeName: storeName, volume: volume)
        }
        let gate = PushGate(sink: sink, device: deviceID)
        let asking = builder.asking.map { PushAsking(sink: sink, device: builder.device.id ?? "", $0) }
        var builder = builder
        builder.device.daemonID = sink.credentials?.daemonDeviceID
        let ledger = PushLedger(builder, environment: environment, deviceID: deviceID)
        ledger.map { ledger in
            builder.followTokens { usage in
                ledger.add(usage)
                return ledger.cards(of: sink.budgets, sink.projects, sink.credentials)
            }
        }
        let (refreshes, refresh) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let loop = PushLoop(builder: builder, sink: sink, refreshes: refreshes) { report in
            tally.add(report)
            log(report, tally)
            asking?.markRead()
            guard case .pushed = report else { return }
            alerts?.markPushed()
            gate.updateUsage()
        }
        let connections = sink.store.connectionChanges
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await loop.run() }
            group.addTask { await log(connections, sink) }
            group.addTask(priority: .utility) {
                for await change in sink.store.changes
                where change.keys.contains(where: { Budget.isKey($0) || ProjectRules.isKey($0) }) {
                    refresh.yield()
                }
            }
            group.addTask(priority: .utility) { await sink.followDevices { gate.updateUsage() } }
            group.addTask(priority: .utility) { await alerts?.run() }
            group.addTask(priority: .utility) { await gate.run() }
            group.addTask(priority: .utility) { await asking?.run() }
            group.addTask(priority: .utility) { await ledger?.run(sink) }
            await environment.waitForAnotherAccount(than: sink.credentials)
            group.cancelAll()
        }
    }

    private func say(_ text: String) {
        if volume > .quiet { Console.note(text) }
    }

    private func log(_ report: PushReport, _ tally: PushTally) {
        switch report {
        case .pushed(let snapshot, let reason, let receipt):
            say(
                PushMessages.line(snapshot, reason)
                    + (volume > .usual ? PushMessages.size(receipt) : "")
                    + PushMessages.remark(on: tally.gaps))
        case .failed(let reason): Console.report("push failed, retrying: \(reason)")
        case .degraded(let reason): Console.report(reason)
        case .empty: say("nothing to push yet; to see why, run: usage-push sources")
        case .incomplete(let gaps):
            if let incomplete = PushMessages.incomplete(gaps) {
                Console.report(incomplete)
            } else {
                say("everything can be read again")
            }
        }
    }

    private func log(_ connections: AsyncStream<StoreStatus.Connection>, _ sink: StoreSink) async {
        var (wasOffline, wasRemoved) = (false, false)
        for await connection in connections {
            switch connection {
            case .offline where sink.isRemoved:
                if !wasRemoved { Console.report(PushMessages.removed) }
                (wasOffline, wasRemoved) = (true, true)
            case .offline(let reason):
                if !wasOffline { say("offline, pushes are stored locally: \(VisibleText.escape(reason))") }
                wasOffline = true
            case .connected:
                if wasOffline || volume > .usual { say("connected") }
                (wasOffline, wasRemoved) = (false, false)
            case .local, .idle: break
            }
        }
    }
}

/// The number of pushes, the last one, and what could not be read for it.
private final class PushTally: Sendable {
    private struct State {
        var count = 0
        var last: SyncedUsageSnapshot?
        var gaps: [SnapshotBuilder.Gap] = []
    }

    private let state = Mutex(State())

    func add(_ report: PushReport) {
        state.withLock { state in
            switch report {
            case .pushed(let snapshot, _, _):
                (state.count, state.last) = (state.count + 1, snapshot)
            case .incomplete(let gaps): state.gaps = gaps
            default: break
            }
        }
    }

    var gaps: [SnapshotBuilder.Gap] { state.withLock { $0.gaps } }

    var summary: String {
        let (count, last) = state.withLock { ($0.count, $0.last) }
        guard let last else { return "stopped; nothing was pushed" }
        let pushes = count == 1 ? "1 push" : "\(count) pushes"
        let time = PushMessages.time(last.syncTimestamp)
        return "stopped after \(pushes), the last at \(time): \(PushMessages.providers(last))"
    }
}
