import Essentials
import Commands
import KVStoreEssentials
import KVStoreHTTP
import SnapshotModels
import UsagePusher
import UsageState

/// `usage-push` without `--watch`.
struct PushOnce {
    let environment: StoreEnvironment
    let storeName: String
    /// This device's.
    let deviceID: String?
    let volume: Console.Volume

    func run(_ builder: SnapshotBuilder) async throws {
        builder.pluginRuns?.runDue()
        let now = Date()
        var builder = builder
        let ledger = PushLedger(builder, environment: environment, deviceID: deviceID)
        ledger.map { ledger in
            builder.followTokens { usage in
                ledger.add(usage)
                return []
            }
        }
        let gaps = try builder.readRequired(at: now)
        do {
            let sink = try StoreSink(environment: environment, storeName: storeName, deviceID: deviceID, isLive: false)
            defer { sink.close() }
            // Other devices' snapshots belong into the merge, but not those of removed ones.
            async let asked: Void = sink.askForDevices()
            var delivery = await sink.synchronize()
            await asked
            let isReachable = if case .delivered = delivery { true } else { false }
            await ledger?.publish(sink.credentials, isReachable: isReachable)
            if let year = ledger?.year, year.isDue(after: sink.year, interval: 0) { sink.put(year) }
            builder.adoptBudgets(ledger?.cards(of: sink.budgets, sink.projects, sink.credentials) ?? [])
            guard let snapshot = builder.snapshot(at: now) else { return }
            let receipt = try SnapshotPublisher(sink: sink).publish(snapshot, at: now)
            if isReachable { delivery = await sink.send() }
            PushGate(sink: sink, device: deviceID).updateUsage()
            if volume > .quiet {
                let size = volume > .usual ? PushMessages.size(receipt) : ""
                try Console.print(
                    "pushed " + PushMessages.providers(snapshot) + size
                        + PushMessages.remark(on: gaps) + delivery.remark)
            }
            if case .refused(let error) = delivery {
                throw CommandFailure(
                    .unavailable, error.code == .unauthorized ? PushMessages.removed : error.description)
            }
        } catch let error as StoreError {
            throw CommandFailure.push(error)
        }
        try gaps.fail()
    }
}

/// `usage-push --print`.
struct PrintOnce {
    let isPretty: Bool

    func run(_ builder: SnapshotBuilder) throws {
        builder.pluginRuns?.runDue()
        let now = Date()
        var builder = builder
        let gaps = try builder.readRequired(at: now)
        guard let snapshot = builder.snapshot(at: now) else { return }
        if isPretty {
            try Console.printJSON(snapshot, isIndented: true)
        } else {
            try Console.write(JSONOutput.visible(try SnapshotCodec.encode(snapshot)) + Data("\n".utf8))
        }
        try gaps.fail()
    }
}

extension [SnapshotBuilder.Gap] {
    /// Throws with the status of a push from which something is missing.
    fileprivate func fail() throws(CommandFailure) {
        if let message = PushMessages.incomplete(self) { throw CommandFailure(.failure, message) }
    }
}

extension SnapshotBuilder {
    /// Reads all sources, and returns what could not be read. Throws if none knows anything.
    fileprivate mutating func readRequired(at now: Date) throws(CommandFailure) -> [Gap] {
        readThoroughly(at: now)
        guard snapshot(at: now) != nil else { throw CommandFailure(.noInput, PushMessages.nothingToPush(self)) }
        return gaps
    }
}
