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
        try await durably { engine in try engine.sync(request, store: store) }
    }

    func write(
        _ content: Record.Content, forKey key: StoreKey, store: StoreID, replica: ReplicaID
    ) async throws -> SequencedRecord {
        try await durably { engine in
            try engine.write(content, forKey: key, store: store, replica: replica)
        }
    }

    func value(of key: StoreKey, in store: StoreID) async throws -> SequencedRecord? {
        try await durably { engine in try engine.value(of: key, in: store) }
    }

    func values(in store: StoreID) async throws -> [SequencedRecord]? {
        try await durably { engine in try engine.values(in: store) }
    }

    func stores(ofAccount account: String) async throws -> [StoreList.Store] {
        try await loop.submit { self.stores(ofAccount: account) }.get()
    }

    func end(of store: StoreID) async throws -> Cursor? {
        try await loop.submit { self.ledger.end(of: store) }.get()
    }

    /// The durable changes after a cursor; nil when it is not in the present epoch.
    func page(of store: StoreID, after cursor: Cursor) async throws -> Hub.Page? {
        try await loop.submit {
            guard let hub = self.ledger.hub(store), !hub.endsStream(at: cursor) else { return nil }
            let durable = self.ledger.durableSequence(of: store)
            return hub.page(after: cursor.sequence, through: max(cursor.sequence, durable))
        }.get()
    }

    var watcherCount: Int {
        get async throws { try await loop.submit { self.watchers.count }.get() }
    }

    private func durably<Value: Sendable>(
        _ body: @escaping @Sendable (StorageEngine) throws -> Value
    ) async throws -> Value {
        let answer = loop.makePromise(of: Value.self)
        loop.execute {
            do {
                let value = try body(self)
                self.whenDurable { error in
                    if let error {
                        answer.fail(Problem(error))
                    } else {
                        answer.succeed(value)
                    }
                }
            } catch {
                answer.fail(error)
            }
        }
        return try await answer.futureResult.get()
    }
}
