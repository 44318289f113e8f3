import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP
import SnapshotModels
import UsagePusher

/// `usage-push` without `--watch`.
struct PushOnce {
    let environment: StoreEnvironment
    let storeName: String
    /// Of this device.
    let deviceID: String?
    let volume: Console.Volume

    func run(_ builder: SnapshotBuilder) async throws {
        builder.pluginRuns?.runDue()
        let now = Date()
        let snapshot = try builder.requiredSnapshot(at: now)
        do {
            let sink = try StoreSink(
                environment: environment, storeName: storeName, deviceID: deviceID, isLive: false)
            defer { sink.close() }
            // Other devices' snapshots belong into the merge, but not those of removed ones.
            async let asked: Void = sink.askForDevices()
            var delivery = await sink.synchronize()
            await asked
            let receipt = try SnapshotPublisher(sink: sink).publish(snapshot, at: now)
            sink.record(snapshot)
            if case .delivered = delivery { delivery = await sink.synchronize() }
            if volume > .quiet {
                let size = volume > .usual ? PushMessages.size(receipt) : ""
                try Console.print(
                    "pushed " + PushMessages.providers(snapshot) + size + delivery.remark)
            }
            if case .refused(let error) = delivery {
                throw CommandFailure(.unavailable, error.description)
            }
        } catch let error as StoreError {
            throw CommandFailure(error)
        }
    }
}

/// `usage-push --print`.
struct PrintOnce {
    let isPretty: Bool

    func run(_ builder: SnapshotBuilder) throws {
        builder.pluginRuns?.runDue()
        let snapshot = try builder.requiredSnapshot(at: Date())
        if isPretty { return try Console.printJSON(snapshot, isIndented: true) }
        try Console.write(
            JSONOutput.visible(try SnapshotCodec.encode(snapshot)) + Data("\n".utf8))
    }
}

extension SnapshotBuilder {
    /// Reads all sources. Throws if none knows anything.
    fileprivate func requiredSnapshot(at now: Date) throws(CommandFailure) -> SyncedUsageSnapshot {
        var builder = self
        builder.readThoroughly(at: now)
        if builder.isPartial { Console.note(PushMessages.stoppedEarly(builder)) }
        if let snapshot = builder.snapshot(at: now) { return snapshot }
        throw CommandFailure(.noInput, PushMessages.nothingToPush(builder))
    }
}
