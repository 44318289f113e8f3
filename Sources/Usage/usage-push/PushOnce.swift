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
        builder.readThoroughly(at: now)
        let gaps = builder.gaps
        let providers = Set(builder.reports.map(\.providerID))
        let nothing = CommandFailure(.noInput, PushMessages.nothingToPush(builder))
        // What is used may be too old for a snapshot, or its logs gone since they were read.
        guard builder.snapshot(at: now) != nil || ledger?.hasUsage(of: providers, inLogs: false) == true else {
            throw nothing
        }
        do {
            let sink = try StoreSink(environment: environment, storeName: storeName, deviceID: deviceID, isLive: false)
            defer { sink.close() }
            // Other devices' snapshots belong into the merge, but not those of removed ones.
            async let asked: Void = sink.askForDevices()
            var delivery = await sink.synchronize()
            await asked
            let isReachable = if case .delivered = delivery { true } else { false }
            let hasPublished = await ledger?.publish(sink.credentials, isReachable: isReachable) ?? false
            if let year = ledger?.year, year.isDue(after: sink.year, interval: 0) { sink.put(year) }
            builder.adoptBudgets(ledger?.cards(of: sink.budgets, sink.projects, sink.credentials) ?? [])
            var pushed = "past usage"
            if let snapshot = builder.snapshot(at: now) {
                let receipt = try SnapshotPublisher(sink: sink).publish(snapshot, at: now)
                pushed = PushMessages.providers(snapshot) + (volume > .usual ? PushMessages.size(receipt) : "")
            } else if !hasPublished, ledger?.hasUsage(of: providers, inLogs: true) != true {
                throw nothing
            }
            if isReachable { delivery = await sink.send() }
            PushGate(sink: sink, device: deviceID).updateUsage()
            if volume > .quiet {
                try Console.print("pushed " + pushed + PushMessages.remark(on: gaps) + delivery.remark)
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
        builder.readThoroughly(at: now)
        guard let snapshot = builder.snapshot(at: now) else {
            throw CommandFailure(.noInput, PushMessages.nothingToPush(builder))
        }
        if isPretty {
            try Console.printJSON(snapshot, isIndented: true)
        } else {
            try Console.write(JSONOutput.visible(try SnapshotCodec.encode(snapshot)) + Data("\n".utf8))
        }
        try builder.gaps.fail()
    }
}

extension [SnapshotBuilder.Gap] {
    /// Throws with the status of a push from which something is missing.
    fileprivate func fail() throws(CommandFailure) {
        if let message = PushMessages.incomplete(self) { throw CommandFailure(.failure, message) }
    }
}
