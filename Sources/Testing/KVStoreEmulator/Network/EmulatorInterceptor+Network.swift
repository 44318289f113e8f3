import KVStoreCore
import KVStoreLedger
import KVStoreSimulation
import KVStoreWire
import NIOCore
import NIOHTTP1
import KVStoreServer

/// The way of a request through the network of an emulator.
extension EmulatorInterceptor {
    /// Responds to a request that has been read, as far as faults let it and its answer through.
    func receive(
        _ request: Request, by server: StoreServer, on loop: WatcherRegistry, _ complete: @escaping Completion<Response>
    ) {
        // The account is the device's own knowledge, which its network does not bring.
        guard request.resource.emulatorRoute !== EmulatorRoute.account else {
            return server.respond(to: request, on: loop, complete)
        }
        guard let recorder = emulation.recorder, request.isRecorded else {
            return receive(request, number: nil, by: server, on: loop, complete)
        }
        recorder.arrive(request) { number in
            receive(request, number: number, by: server, on: loop) { result in
                // Later: a connection may go on with its next request.
                loop.loop.assumeIsolated().execute { complete(result) }
            }
        }
    }

    /// - Parameter number: of the request in the record.
    private func receive(
        _ request: Request, number: Int?, by server: StoreServer, on loop: WatcherRegistry,
        _ complete: @escaping Completion<Response>
    ) {
        guard let device = request.device else {
            let complete = emulation.recorder?.answering(number, request, complete) ?? complete
            return respond(to: request, by: server, on: loop, complete)
        }
        let (world, name) = (device.account, device.name)
        if let problem = throttle(request, world, name) {
            return complete(.failure(problem))
        }
        network.markActive(in: world)
        let passage = network.decide(request.isOpeningStream ? nil : .request, of: name, in: world)
        network.carry(
            passage, copy: { [self] in execute(request, number: number, by: server, on: loop) { _ in } },
            deliver: { [self] error in
                if let error { return complete(Self.result(of: error)) }
                // Decided now, so that random choices do not depend on how long the stores take.
                let answer = request.isOpeningStream ? nil : network.decide(.answer, of: name, in: world)
                execute(request, number: number, by: server, on: loop) { [network] result in
                    guard let answer else { return complete(result) }
                    network.carry(answer) { error in
                        complete(error == nil ? result : .success(.disconnection))
                    }
                }
            })
    }

    private func throttle(_ request: Request, _ world: String, _ device: String) -> Problem? {
        guard request.isWriting else { return nil }
        let now = emulation.time(in: world)
        let wait = emulation.changePresent(world) {
            $0.devices[device]?.faults.throttleSeconds(now: now)
        }
        guard let seconds = wait ?? nil else { return nil }
        emulation.publish(.fault(device: device, .request, .throttled), in: world)
        return .throttled(seconds: Int(seconds.rounded(.up)))
    }

    /// Responds to a request that has arrived, as one of the account that the device has now.
    private func execute(
        _ request: Request, number: Int?, by server: StoreServer, on loop: WatcherRegistry,
        _ complete: @escaping Completion<Response>
    ) {
        let complete = emulation.recorder?.answering(number, request, complete) ?? complete
        guard let device = request.device else { return complete(.failure(.unauthorized)) }
        let world = device.account
        let found = emulation.account(of: device.name, in: world)
        let name = found.map(EmulatedAccount.name)
        if let expected = request.fields.account, expected != name ?? "" {
            return complete(.failure(.otherAccount(name)))
        }
        guard let account = found else { return complete(.failure(.signedOut)) }
        var request = request
        // The devices are those of the world.
        if request.resource.route !== Route.devices, request.resource.route !== Route.device {
            request.device?.account = account
        }
        network.begin(in: world)
        respond(to: request, by: server, on: loop) { [self] result in
            defer { network.end(in: world) }
            guard case .success(.stream(let stream as EventStream)) = result,
                !emulation.isReplaying
            else { return complete(result) }
            let link = StreamLink(device, store: stream.store, sequence: stream.cursor.sequence, loop)
            complete(.success(.stream(EmulatedStream(stream, link, network))))
        }
    }

    private func respond(
        to request: Request, by server: StoreServer, on loop: WatcherRegistry,
        _ complete: @escaping Completion<Response>
    ) {
        do throws(Problem) {
            try Self.checkDevices(request)
            try createStore(toOpen: request, on: loop) { result in
                do throws(Problem) {
                    try result.get()
                    server.respond(to: request, on: loop, complete)
                } catch {
                    complete(.failure(error))
                }
            }
        } catch {
            complete(.failure(error))
        }
    }

    /// Creates the store of a stream that is to be opened, empty, as a sync without changes does: a test listens before
    /// it writes. Completes at once if there is nothing to create.
    private func createStore(
        toOpen request: Request, on loop: WatcherRegistry, _ complete: @escaping Completion<Void>
    ) throws(Problem) {
        guard case .route(let route, let segment, _) = request.resource, route === Route.changes else {
            return complete(.success(()))
        }
        let store = try request.store(segment, .write)
        let message = SyncRequest(replica: replica, since: nil)
        guard engine.read({ $0.ledger.history(of: store) == nil }) else {
            return complete(.success(()))
        }
        engine.perform(
            on: loop,
            { state throws(Problem) in _ = try engine.sync(message, store: store, mayCreate: true, in: &state) },
            complete)
    }

    /// Throws if the request adds or renames a device: tokens do.
    private static func checkDevices(_ request: Request) throws(Problem) {
        guard let route = request.resource.route else { return }
        if route === Route.pairing || route === Route.pairings { throw .noPairing }
        if route === Route.device, request.method == .PATCH {
            try request.checkJSON()
            throw .emulatedDevice
        }
    }

    private static func result(of error: SyncTransportError) -> Result<Response, Problem> {
        switch error {
        case .unreachable, .malformed: .success(.disconnection)
        case .unauthorized(let detail): .failure(.emulated(401, "unauthorized", detail))
        case .busy(let seconds): .failure(.throttled(seconds: Int((seconds ?? 1).rounded(.up))))
        case .refused(let status, let code, let message): .failure(.emulated(status, code, message))
        }
    }

    /// What keeps a world from being settled.
    func obstacles(in world: String) -> [String] {
        let now = emulation.time(in: world)
        let devices = emulation.world(world).devices
        var obstacles = network.waiting.filter { $0.world == world }.map { message in
            let isHeld = devices[message.device]?.faults.holds(message.kind) ?? false
            let kind = message.kind == .answer || message.kind == .event ? "an" : "a"
            return "\(message.device): \(kind) \(message.kind.rawValue) is "
                + (isHeld ? "held" : "delayed by another \(message.due - now) ms")
        }
        for link in network.links.values where link.world == world {
            let end = engine.read { $0.ledger.history(of: link.store)?.sequence ?? 0 }
            guard link.sequence < end else { continue }
            obstacles.append(
                "\(link.device): has not been sent the changes of \(link.store.name) after "
                    + "\(link.sequence), of \(end)")
        }
        if let count = network.requestCounts[world] {
            obstacles.append("\(count) \(count == 1 ? "request is" : "requests are") under way")
        }
        return obstacles.sorted()
    }
}

extension Request {
    /// Opening a stream is the beginning of its events.
    fileprivate var isOpeningStream: Bool { resource.route === Route.changes }

    /// Whether it is in the record of a session: what an emulator's stores and worlds depend on.
    var isRecorded: Bool {
        guard let route = resource.emulatorRoute, route !== EmulatorRoute.account else { return device != nil }
        return isWriting && route !== EmulatorRoute.settle
    }

    /// Whether a throttle counts it.
    fileprivate var isWriting: Bool { ![.GET, .HEAD].contains(method) }
}
