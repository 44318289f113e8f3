import Foundation
import KVStoreCore
import KVStoreLedger
import KVStoreLog
import KVStoreWire
import NIOCore

@testable import KVStoreServer

/// Requests to the engine from tasks, each answered when the disk has it.
extension StorageEngine {
    func sync(_ request: SyncRequest, store: StoreID) async throws -> SyncResponse {
        try await durably { engine throws(Problem) in
            try engine.sync(request, store: store, mayCreate: true)
        }
    }

    func write(
        _ content: Record.Content, forKey key: StoreKey, store: StoreID, replica: ReplicaID
    ) async throws -> SequencedRecord {
        try await durably { engine throws(Problem) in
            try engine.write(content, forKey: key, store: store, replica: replica)
        }
    }

    func value(of key: StoreKey, in store: StoreID) async throws -> SequencedRecord? {
        try await durably { engine throws(Problem) in try engine.value(of: key, in: store) }
    }

    func values(in store: StoreID) async throws -> [SequencedRecord]? {
        try await durably { engine throws(Problem) in try engine.values(in: store) }
    }

    func storeList(ofAccount account: String) -> [StoreList.Store] {
        read { stores(ofAccount: account) }
    }

    func end(of store: StoreID) -> Cursor? {
        read { ledger.end(of: store) }
    }

    /// The durable changes after a cursor; nil when it is not in the present epoch.
    func page(of store: StoreID, after cursor: Cursor) -> Hub.Page? {
        page(of: store, after: cursor, limits: WireLimits.page)?.page
    }

    var watcherCount: Int { loops.reduce(0) { $0 + $1.count } }

    func durably<Value: Sendable>(
        _ body: @escaping @Sendable (StorageEngine) throws(Problem) -> Value
    ) async throws -> Value {
        let loop = loops.randomElement()!
        let answer = loop.loop.makePromise(of: Value.self)
        loop.loop.execute {
            self.perform(on: loop) { () throws(Problem) in
                try body(self)
            } _: {
                answer.completeWith($0.mapError { $0 as any Error })
            }
        }
        do { return try await answer.futureResult.get() } catch let error as Problem
            where error == .again
        {
            return try await durably(body)
        }
    }
}
