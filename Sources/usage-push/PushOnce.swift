import ArgumentParser
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
            Console.complain(PushText.nothing(builder, home: home))
            throw ExitCode.noSource
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
                Console.say("pushed " + PushText.providers(snapshot) + size + delivery.remark)
            }
            if case .refused(let error) = delivery {
                Console.complain(error.description)
                throw ExitCode.storeUnavailable
            }
        } catch let error as StoreError {
            Console.complain(error.description)
            throw ExitCode(error)
        }
    }
}
