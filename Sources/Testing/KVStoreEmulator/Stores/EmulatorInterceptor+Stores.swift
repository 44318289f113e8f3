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
    func respond(
        to resource: StoreResource, ofWorld world: String, _ request: Request, on loop: WatcherRegistry,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) throws(Problem) {
        let store = try request.store(resource.store, ofWorld: world)
        func changed(_ result: Result<SequencedRecord, Problem>) {
            switch result {
            case .success(let entry):
                answer(on: loop.loop, complete) { [emulation] in
                    .json(emulation.entry(entry, in: store))
                }
            case .failure(let problem): complete(.failure(problem))
            }
        }
        switch (resource, request.method) {
        case (.store, _):
            let entries = try engine.read { state throws(Problem) in
                Array(try hub(store, in: state).entries.values)
            }
            answer(on: loop.loop, complete) { [emulation] in
                .json(
                    StoreContents(
                        store: store.name,
                        keys: entries.sorted { $0.record.key < $1.record.key }.map { emulation.entry($0, in: store) }))
            }
        case (.key(let key, _), .PUT):
            try request.checkJSON()
            put(try request.key(key), store, request.body, on: loop, changed)
        case (.key(let key, _), .DELETE):
            let key = try request.key(key)
            engine.perform(
                on: loop,
                { state throws(Problem) in
                    _ = try hub(store, in: state)
                    return try write(.tombstone, key, store, if: .none, by: Emulation.deviceName, in: &state)
                }, changed)
        case (.key(let key, _), _):
            let key = try request.key(key)
            changed(
                .success(
                    try engine.read { state throws(Problem) in
                        guard let entry = try hub(store, in: state).entries[key] else { throw .unknownKey }
                        return entry
                    }))
        case (.explanation(let key, _), _):
            // No store accepts the key of some decisions.
            guard let key = Request.decode(key).map({ StoreKey($0) }) else { throw .badKey }
            let explanation = try engine.read { state throws(Problem) in
                let entry = try hub(store, in: state).entries[key]
                let decisions = emulation.decisions.entries(of: key, in: store)
                guard entry != nil || !decisions.isEmpty else { throw .unknownKey }
                return KeyExplanation(
                    key, in: store, present: entry.map { emulation.entry($0, in: store) }, decisions: decisions)
            }
            answer(on: loop.loop, complete) { .json(explanation) }
        }
    }

    private func hub(_ store: StoreID, in state: LogEngine.State) throws(Problem) -> Hub {
        if let hub = state.ledger.hub(store) { return hub }
        throw worlds.contains(store.world)
            || !state.ledger.stores(ofAccount: store.world).isEmpty ? .unknownStore : .unknownWorld
    }

    private func put(
        _ key: StoreKey, _ store: StoreID, _ body: ByteBuffer, on loop: WatcherRegistry,
        _ complete: @escaping (Result<SequencedRecord, Problem>) -> Void
    ) {
        decode(
            { () throws(Problem) -> StoredValue in try StoreServer.decode(body, depthLimit: StoredValue.jsonDepth) },
            on: loop
        ) { [self] value in
            engine.perform(
                on: loop,
                { state throws(Problem) in
                    let content = Record.Content.value(try value.get().data)
                    return try admitting(store.world) { () throws(Problem) in
                        try write(content, key, store, if: .none, by: Emulation.deviceName, in: &state)
                    }
                }, complete)
        }
    }

    /// Decodes on another thread: it would hold up all connections. What is recorded is decoded at once, so that it has
    /// one order.
    func decode<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value, on loop: WatcherRegistry,
        _ complete: @escaping (Result<Value, Failure>) -> Void
    ) {
        guard !decodesInOrder else { return complete(Result(catching: body)) }
        let completion = NIOLoopBound(complete, eventLoop: loop.loop)
        documentQueue.async {
            let result = Result(catching: body)
            loop.loop.execute { completion.value(result) }
        }
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
    func answer(
        on loop: any EventLoop, _ complete: @escaping (Result<Response, Problem>) -> Void,
        encode: @escaping @Sendable () -> Answer
    ) {
        let completion = NIOLoopBound(complete, eventLoop: loop)
        documentQueue.async {
            let answer = encode()
            loop.execute { completion.value(.success(.answer(answer))) }
        }
    }
}

extension Emulation {
    fileprivate func entry(_ entry: SequencedRecord, in store: StoreID) -> StoreEntry {
        StoreEntry(entry, writer: decisions.writer(of: entry.record, in: store))
    }
}

extension Request {
    /// The store with the name in the path, of the account in the query.
    fileprivate func store(
        _ segment: Substring, ofWorld world: String
    ) throws(Problem) -> StoreID {
        guard let name = Self.decode(segment), StoreConfiguration.isValidStoreName(name) else {
            throw .badStoreName
        }
        let account = parameter("account").map { Self.decode($0) ?? "" }
        guard account.map(Device.isValidAccount) ?? true else {
            throw .malformed("account is not the name of an account")
        }
        return StoreID(world: world, account: account, name: name)
    }
}
