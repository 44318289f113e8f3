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
    func respond(
        to resource: EmulatorResource, _ request: Request, on loop: WatcherRegistry,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) throws(Problem) {
        switch (resource, request.method) {
        case (.account, _): complete(.success(.stream(AccountStream(of: try request.caller(.read), emulation))))
        case (.index, _): complete(.success(.answer(.json(ResourceList()))))
        case (.worlds, .DELETE): reset(nil, on: loop, complete)
        case (.worlds, _): complete(.success(.answer(.json(listWorlds()))))
        case (.world(let world), .DELETE): reset(try Self.worldName(world), on: loop, complete)
        case (.world(let world), _): complete(.success(.answer(.json(try describe(world: Self.worldName(world))))))
        case (.export(let world), .PUT): try importWorld(try Self.worldName(world), request, on: loop, complete)
        case (.export(let world), _): try export(try Self.worldName(world), on: loop.loop, complete)
        case (.events, _): complete(.success(.stream(try openEvents(nil, request))))
        case (.worldEvents(let world), _):
            let world = try Self.worldName(world)
            complete(.success(.stream(try openEvents(world, request))))
        case (.page(let file), _): complete(.success(.answer(file.answer(to: request.fields))))
        case (.control(let control, let world), _): try respond(to: control, of: world, request, on: loop, complete)
        case (.store(let resource, let world), _):
            try respond(to: resource, ofWorld: try Self.worldName(world), request, on: loop, complete)
        }
    }

    /// The world that a token with this name has.
    static func worldName(_ segment: Substring) throws(Problem) -> String {
        guard let name = Request.decode(segment), !name.contains("/"),
            let token = WorldToken(name)
        else { throw .badWorldName }
        return token.world
    }

    private func listWorlds() -> WorldList {
        let accounts = engine.read { $0.ledger.accountTotals }
        let totals = Dictionary(grouping: accounts) { EmulatedAccount.world(of: $0.key) }
        let devices = Dictionary(grouping: devices.table.devices, by: \.account)
        return WorldList(
            worlds: knownWorlds(totals.keys).map { world in
                let totals = (totals[world] ?? []).map(\.value)
                let devices = devices[world] ?? []
                return WorldSummary(
                    world: world, deviceCount: devices.count,
                    connectedCount: devices.count { self.devices.presence(of: $0.id).isConnected },
                    storeCount: totals.reduce(0) { $0 + $1.storeCount },
                    keyCount: totals.reduce(0) { $0 + $1.keyCount },
                    byteCount: totals.reduce(0) { $0 + $1.memoryByteCount })
            })
    }

    /// Those that tokens have named, and those that have stores, sorted.
    private func knownWorlds(_ accounts: some Sequence<String>) -> [String] {
        worlds.names.union(accounts.map(EmulatedAccount.world)).sorted()
    }

    func isKnown(_ world: String) -> Bool {
        worlds.contains(world) || !engine.read { $0.accounts(ofWorld: world) }.isEmpty
    }

    private func describe(world: String) throws(Problem) -> WorldReport {
        guard isKnown(world) else { throw .unknownWorld }
        let found = devices.table.devices.filter { $0.account == world }
        return WorldReport(
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
    }

    /// Removes the stores of a world, or of all, and forgets devices that are not connected. A world that nobody has
    /// used is as it was.
    private func reset(
        _ world: String?, on loop: WatcherRegistry, _ complete: @escaping (Result<Response, Problem>) -> Void
    ) {
        var lost: [EmulatedNetwork.Waiting] = []
        engine.perform(on: loop) { state throws(Problem) in
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
            complete(result.map { .answer(.noContent) })
        }
    }

    private func export(
        _ world: String, on loop: any EventLoop, _ complete: @escaping (Result<Response, Problem>) -> Void
    ) throws(Problem) {
        var document = engine.read { $0.document(of: world) }
        if document == nil, worlds.contains(world) { document = WorldDocument([]) }
        guard let document else { throw .unknownWorld }
        answer(on: loop, complete) {
            Answer(MediaType.json, ByteBuffer(bytes: document.encoded))
        }
    }

    private func importWorld(
        _ world: String, _ request: Request, on loop: WatcherRegistry,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) throws(Problem) {
        try request.checkJSON()
        let body = Data(request.body.readableBytesView)
        decode({ [engine] () throws(Problem) in try engine.document(decoding: body) }, on: loop) { [self] document in
            engine.perform(on: loop) { state throws(Problem) in
                try replace(world, with: try document.get(), in: &state)
            } _: { result in
                complete(result.map { .answer(.json($0)) })
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

    /// After `Last-Event-ID`, otherwise `after`, otherwise those that happen from now on.
    private func openEvents(_ world: String?, _ request: Request) throws(Problem) -> EmulatorEventStream {
        let text = request.fields.lastEventID ?? request.parameter("after").map { String($0) }
        let latest = emulation.events.latestID
        guard let after = text.map({ UInt64($0) }) ?? latest else {
            throw .malformed("after is not the id of an event")
        }
        return EmulatorEventStream(emulation.events, world: world, after: after)
    }
}
