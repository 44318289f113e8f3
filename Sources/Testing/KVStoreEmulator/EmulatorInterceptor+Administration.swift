import Dispatch
import Essentials
import KVStoreCore
import KVStoreWire
import KVStoreLedger
import NIOCore
import NIOHTTP1
import KVStoreServer

/// `/emulator/v1/`: administration of the worlds of an emulator.
extension EmulatorInterceptor {
    func streamAccount(_ exchange: EmulatorExchange) throws(Problem) {
        exchange.complete(.success(.stream(AccountStream(of: try exchange.request.caller(.read), emulation))))
    }

    func listResources(_ exchange: EmulatorExchange) throws(Problem) { exchange.answer(.json(ResourceList())) }

    func listWorlds(_ exchange: EmulatorExchange) throws(Problem) {
        let accounts = engine.read { $0.ledger.accountTotals }
        let totals = Dictionary(grouping: accounts) { EmulatedAccount.world(of: $0.key) }
        let devices = Dictionary(grouping: devices.table.devices, by: \.account)
        // Those that tokens have named, and those that have stores.
        let summaries = worlds.names.union(totals.keys).sorted().map { world in
            let totals = (totals[world] ?? []).map(\.value)
            let devices = devices[world] ?? []
            return WorldSummary(
                world: world, deviceCount: devices.count,
                connectedCount: devices.count { self.devices.presence(of: $0.id).isConnected },
                storeCount: totals.reduce(0) { $0 + $1.storeCount },
                keyCount: totals.reduce(0) { $0 + $1.keyCount },
                byteCount: totals.reduce(0) { $0 + $1.memoryByteCount })
        }
        exchange.answer(.json(WorldList(worlds: summaries)))
    }

    func isKnown(_ world: String) -> Bool {
        worlds.contains(world) || !engine.read { $0.accounts(ofWorld: world) }.isEmpty
    }

    func describeWorld(_ exchange: EmulatorExchange) throws(Problem) {
        let world = try knownWorld(of: exchange)
        let found = devices.table.devices.filter { $0.account == world }
        let report = WorldReport(
            world: world,
            devices: found.sorted { $0.name < $1.name }.map { device in
                EmulatedDevice(
                    device: devices.describe(device),
                    account: emulation.account(of: device.name, in: world).map(EmulatedAccount.name),
                    faults: faults(of: device.name, in: world),
                    waiting: network.waiting.count { $0.world == world && $0.device == device.name })
            },
            stores: engine.read { state in
                state.accounts(ofWorld: world).flatMap { account in
                    state.stores(ofAccount: account).map {
                        let name = EmulatedAccount.name(of: account)
                        return EmulatedStore(store: $0, account: account == world ? nil : name)
                    }
                }
            },
            clock: clock(of: world),
            settings: SettingsDocument(emulation.world(world).settings))
        exchange.answer(.json(report))
    }

    func resetAll(_ exchange: EmulatorExchange) throws(Problem) { reset(nil, exchange) }

    func resetWorld(_ exchange: EmulatorExchange) throws(Problem) { reset(try exchange.world, exchange) }

    /// Removes the stores of a world, or of all, and forgets devices that are not connected. A world that nobody has
    /// used is as it was.
    private func reset(_ world: String?, _ exchange: EmulatorExchange) {
        var lost: [EmulatedNetwork.Waiting] = []
        engine.perform(on: exchange.loop) { state throws(Problem) in
            // Once for all worlds.
            let accounts = Dictionary(grouping: state.ledger.accountTotals.keys, by: EmulatedAccount.world)
            let affected = world.map { [$0] } ?? Set(accounts.keys).union(emulation.changedWorlds).sorted()
            for world in affected {
                for account in (accounts[world] ?? []).sorted() {
                    while try engine.removeStores(ofAccount: account, count: 64, in: &state) {}
                }
                emulation.reset(world)
            }
            lost = network.withdraw(from: world)
            emulation.decisions.forget(world: world)
            worlds.forgetAbsentDevices(ofWorld: world)
        } _: { [self] result in
            for message in lost { message.deliver(false) }
            for name in Set(lost.map(\.world)).union(world.map { [$0] } ?? []).sorted() {
                network.release(name)
            }
            exchange.complete(result.map { .answer(.noContent) })
        }
    }

    func export(_ exchange: EmulatorExchange) throws(Problem) {
        let world = try exchange.world
        var document = engine.read { $0.document(of: world) }
        if document == nil, worlds.contains(world) { document = WorldDocument([]) }
        guard let document else { throw .unknownWorld }
        answer(exchange) { Answer(MediaType.json, ByteBuffer(bytes: document.encoded)) }
    }

    func importWorld(_ exchange: EmulatorExchange) throws(Problem) {
        let world = try exchange.world
        try exchange.request.checkJSON()
        let (loop, body) = (exchange.loop, Data(exchange.request.body.readableBytesView))
        decode({ [engine] () throws(Problem) in try engine.document(decoding: body) }, on: loop) { [self] document in
            engine.perform(on: loop) { state throws(Problem) in
                try replace(world, with: try document.get(), in: &state)
            } _: { result in
                exchange.complete(result.map { .answer(.json($0)) })
            }
        }
    }

    private func replace(
        _ world: String, with document: WorldDocument, in state: inout LogEngine.State
    ) throws(Problem) -> ImportReport {
        try admitting(world) { () throws(Problem) in
            try engine.replace(world, with: document, replica: replica, in: &state)
        }
        emulation.decisions.forget(world: world)
        let keyCount = document.stores.reduce(0) { $0 + $1.values.count }
        emulation.publish(.imported(storeCount: document.stores.count, keyCount: keyCount), in: world)
        return ImportReport(world: world, storeCount: document.stores.count, keyCount: keyCount)
    }

    func openEvents(_ exchange: EmulatorExchange) throws(Problem) { try openEvents(nil, exchange) }

    func openWorldEvents(_ exchange: EmulatorExchange) throws(Problem) { try openEvents(try exchange.world, exchange) }

    /// After `Last-Event-ID`, otherwise `after`, otherwise those that happen from now on.
    private func openEvents(_ world: String?, _ exchange: EmulatorExchange) throws(Problem) {
        let request = exchange.request
        let text = request.fields.lastEventID ?? request.parameter("after").map { String($0) }
        let latest = emulation.events.latestID
        guard let after = text.map({ UInt64($0) }) ?? latest else {
            throw .malformed("after is not the id of an event")
        }
        exchange.complete(.success(.stream(EmulatorEventStream(emulation.events, world: world, after: after))))
    }
}
