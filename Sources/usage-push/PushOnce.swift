import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP
import UsagePusher

/// `usage-push` without `--watch`.
struct PushOnce {
    let environment: StoreEnvironment
    let storeName: String
    let volume: Console.Volume
    let home: String

    func run(_ builder: SnapshotBuilder) async throws {
        var builder = builder
        let now = Date()
        builder.readAll(at: now)
        guard let snapshot = builder.snapshot(at: now) else {
            throw CommandFailure(.noInput, PushText.nothing(builder, home: home))
        }
        do {
            let sink = try StoreSink(environment: environment, storeName: storeName, isLive: false)
            defer { sink.close() }
            // What other devices pushed belongs into the merge.
            let isReachable = await sink.synchronize().isDelivered
            let receipt = try SnapshotPublisher(sink: sink).publish(snapshot, at: now)
            let delivery = isReachable ? await sink.synchronize() : sink.lastDelivery
            if volume > .quiet {
                let size = volume > .usual ? PushText.size(receipt) : ""
                try Console.print("pushed " + PushText.providers(snapshot) + size + delivery.remark)
            }
            if case .refused(let error) = delivery {
                throw CommandFailure(.unavailable, error.description)
            }
        } catch let error as StoreError {
            throw CommandFailure(error)
        }
    }
}
