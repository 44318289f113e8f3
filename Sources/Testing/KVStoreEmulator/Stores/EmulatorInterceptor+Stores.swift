import Dispatch
import Essentials
import KVStoreCore
import KVStoreWire
import KVStoreEssentials
import KVStoreLedger
import NIOCore
import NIOHTTP1
import KVStoreServer

/// Stores and keys of a world, for users, scripts and the page of the emulator.
extension EmulatorInterceptor {
    func listEntries(_ exchange: EmulatorExchange) throws(Problem) {
        let store = try exchange.store
        let entries = try engine.read { state throws(Problem) in Array(try hub(store, in: state).entries.values) }
        answer(exchange) { [emulation] in
            .json(
                StoreContents(
                    store: store.name,
                    keys: entries.sorted { $0.record.key < $1.record.key }.map { emulation.entry($0, in: store) }))
        }
    }

    func getEntry(_ exchange: EmulatorExchange) throws(Problem) {
        let (store, key) = (try exchange.store, try exchange.key)
        let entry = try engine.read { state throws(Problem) in
            guard let entry = try hub(store, in: state).entries[key] else { throw .unknownKey }
            return entry
        }
        answer(.success(entry), in: store, exchange)
    }

    func putEntry(_ exchange: EmulatorExchange) throws(Problem) {
        let store = try exchange.store
        try exchange.request.checkJSON()
        let (key, body) = (try exchange.key, exchange.request.body)
        decode(
            { () throws(Problem) -> StoredValue in try StoreServer.decode(body, depthLimit: StoredValue.jsonDepth) },
            on: exchange.loop
        ) { [self] value in
            engine.perform(on: exchange.loop) { state throws(Problem) in
                let content = StoreRecord.Content.value(try value.get().data)
                return try admitting(store.world) { () throws(Problem) in
                    try write(content, key, store, if: .none, by: Emulation.deviceName, in: &state)
                }
            } _: { [self] in
                answer($0, in: store, exchange)
            }
        }
    }

    func removeEntry(_ exchange: EmulatorExchange) throws(Problem) {
        let (store, key) = (try exchange.store, try exchange.key)
        engine.perform(on: exchange.loop) { state throws(Problem) in
            _ = try hub(store, in: state)
            return try write(.tombstone, key, store, if: .none, by: Emulation.deviceName, in: &state)
        } _: { [self] in
            answer($0, in: store, exchange)
        }
    }

    func explainEntry(_ exchange: EmulatorExchange) throws(Problem) {
        let store = try exchange.store
        // No store accepts the key of some decisions.
        guard let key = Request.decode(exchange.names[2]).map({ StoreKey($0) }) else { throw .badKey }
        let explanation = try engine.read { state throws(Problem) in
            let entry = try hub(store, in: state).entries[key]
            let decisions = emulation.decisions.entries(of: key, in: store)
            guard entry != nil || !decisions.isEmpty else { throw .unknownKey }
            return KeyExplanation(
                key, in: store, present: entry.map { emulation.entry($0, in: store) }, decisions: decisions)
        }
        answer(exchange) { .json(explanation) }
    }

    private func answer(_ result: Result<SequencedRecord, Problem>, in store: StoreID, _ exchange: EmulatorExchange) {
        switch result {
        case .success(let entry): answer(exchange) { [emulation] in .json(emulation.entry(entry, in: store)) }
        case .failure(let problem): exchange.complete(.failure(problem))
        }
    }

    private func hub(_ store: StoreID, in state: LogEngine.State) throws(Problem) -> Hub {
        if let hub = state.ledger.hub(store) { return hub }
        throw worlds.contains(store.world)
            || !state.ledger.stores(ofAccount: store.world).isEmpty ? .unknownStore : .unknownWorld
    }

    /// Decodes on another thread: it would hold up all connections. What is recorded is decoded at once, so that it has
    /// one order.
    func decode<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value, on loop: WatcherRegistry,
        _ complete: @escaping (Result<Value, Failure>) -> Void
    ) {
        if decodesInOrder { return complete(Result(catching: body)) }
        documentQueue.run(completingOn: loop.loop, body, complete)
    }

    /// Runs `body`, which writes into a world that counts among those that there may be; forgets one that is new if the
    /// body throws.
    func admitting<Value>(_ world: String, _ body: () throws(Problem) -> Value) throws(Problem) -> Value {
        let isNew = !worlds.contains(world)
        try worlds.admit(world)
        do throws(Problem) { return try body() } catch {
            if isNew { worlds.forgetAbsentDevices(ofWorld: world) }
            throw error
        }
    }

    /// Answers with what `encode` returns, which may take long and would hold up all connections.
    func answer(_ exchange: EmulatorExchange, encode: @escaping @Sendable () -> Answer) {
        documentQueue.run(completingOn: exchange.loop.loop, encode) { exchange.answer($0.get()) }
    }
}

extension Emulation {
    fileprivate func entry(_ entry: SequencedRecord, in store: StoreID) -> StoreEntry {
        StoreEntry(entry, writer: decisions.writer(of: entry.record, in: store))
    }
}

extension EmulatorExchange {
    /// The store with the name in the path, of the account in the query.
    fileprivate var store: StoreID {
        get throws(Problem) {
            let world = try world
            guard let name = Request.decode(names[1]), StoreConfiguration.isValidStoreName(name) else {
                throw .badStoreName
            }
            let account = request.parameter("account").map { Request.decode($0) ?? "" }
            guard account.map(Device.isValidAccount) ?? true else {
                throw .malformed("account is not the name of an account")
            }
            return StoreID(world: world, account: account, name: name)
        }
    }

    fileprivate var key: StoreKey {
        get throws(Problem) { try request.key(names[2]) }
    }
}
