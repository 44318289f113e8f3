import KVStoreCore
import KVStoreSimulation
import KVStoreWire
import NIOCore
import NIOHTTP1
import KVStoreServer

/// Clock, settings, faults and accounts of a world. On the event loop of the emulator.
extension EmulatorInterceptor {
    private static let faultCount = 64
    private static let deviceCount = 1_024

    func respond(
        to control: WorldControl, of segment: Substring, _ request: Request, on loop: WatcherRegistry,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) throws(Problem) {
        let world = try Self.worldName(segment)
        switch request.method {
        case .GET, .HEAD, .DELETE: try checkKnown(world)
        case .POST where control == .settle: break
        default: try worlds.admit(world)
        }
        if case .settle = control {
            return try settle(world, request, on: loop.loop, complete)
        }
        complete(.success(.answer(try answer(to: control, of: world, request))))
    }

    private func answer(to control: WorldControl, of world: String, _ request: Request) throws(Problem) -> Answer {
        switch control {
        case .clock:
            if request.method == .PUT { try setClock(of: world, request) }
            return .json(clock(of: world))
        case .settings:
            if request.method == .PUT { try setSettings(of: world, request) }
            return .json(SettingsDocument(emulation.world(world).settings))
        case .violations: return .json(ViolationList(violations: Array(emulation.world(world).violations)))
        case .faults(let segment):
            let device = try Self.deviceName(segment)
            switch request.method {
            case .POST:
                var answer = Answer.json(try addFault(to: device, in: world, request))
                answer.status = .created
                return answer
            case .DELETE:
                removeFaults(of: device, in: world) { _ in true }
                return .noContent
            default: return .json(FaultList(faults: faults(of: device, in: world)))
            }
        case .fault(let segment, let id):
            let device = try Self.deviceName(segment)
            let count = removeFaults(of: device, in: world) { $0.id == id }
            guard count > 0 else { throw .unknownFault }
            return .noContent
        case .account(let segment):
            let device = try Self.deviceName(segment)
            let document = try document(of: request, as: DeviceAccount.self)
            if let account = document.account, !Device.isValidAccount(account) {
                throw .invalidControl("account is not 1 to 64 characters of A-Z a-z 0-9 . _ - without a leading dot")
            }
            try changeDevice(device, in: world) { $0.account = document.account }
            emulation.publish(.account(device: device, document.account), in: world)
            network.lose(of: device, in: world)
            return .json(document)
        case .settle: throw .unknownPath
        }
    }

    private func checkKnown(_ world: String) throws(Problem) {
        guard isKnown(world) else { throw .unknownWorld }
    }

    /// Whether the name is one of a device, as a token has it.
    private static func deviceName(_ segment: Substring) throws(Problem) -> String {
        guard let name = Request.decode(segment), Device.isValidAccount(name) else {
            throw .invalidControl("the name of the device in the path is not what a token can name")
        }
        return name
    }

    private func document<Document: Decodable>(
        of request: Request, as type: Document.Type
    ) throws(Problem) -> Document {
        try request.checkJSON()
        return try StoreServer.decode(request.body, depthLimit: limits.jsonDepth)
    }

    // MARK: - Clock and settings

    func clock(of world: String) -> ClockReport {
        ClockReport(emulation.world(world).clock, real: emulation.now())
    }

    private func setClock(of world: String, _ request: Request) throws(Problem) {
        let change = try document(of: request, as: ClockChange.self)
        if let defect = change.defect { throw .invalidControl(defect) }
        let real = emulation.now()
        emulation.change(world) { change.apply(to: &$0.clock, real: real) }
        emulation.publish(.clock(clock(of: world)), in: world)
        network.release(world)
    }

    private func setSettings(of world: String, _ request: Request) throws(Problem) {
        let document = try document(of: request, as: SettingsDocument.self)
        if let defect = document.defect { throw .invalidControl(defect) }
        emulation.change(world) { world in
            document.apply(to: &world.settings)
            if document.seed != nil { world.restartRandomness() }
        }
        emulation.publish(.settings, in: world)
    }

    // MARK: - Devices

    func faults(of device: String, in name: String) -> [FaultDocument] {
        let (world, now) = (emulation.world(name), emulation.time(in: name))
        return (world.devices[device]?.faults.active ?? []).map { FaultDocument($0, now: now) }
    }

    private func addFault(to device: String, in world: String, _ request: Request) throws(Problem) -> FaultDocument {
        let fault = try document(of: request, as: FaultDocument.self).fault()
        guard faults(of: device, in: world).count < Self.faultCount else {
            throw .tooManyFaults(limit: Self.faultCount)
        }
        let now = emulation.time(in: world)
        var id = 0
        try changeDevice(device, in: world) { id = $0.faults.add(fault, now: now) }
        let added = faults(of: device, in: world).first { $0.id == id }
        emulation.publish(.faults(device: device), in: world)
        network.release(world)
        guard let added else { throw .unknownFault }
        return added
    }

    @discardableResult
    private func removeFaults(
        of device: String, in world: String,
        where isRemoved: (NetworkFaults.Active) -> Bool
    ) -> Int {
        let count =
            emulation.changePresent(world) { world in
                let former = world.devices[device]?.faults.active.count ?? 0
                world.devices[device]?.faults.remove(where: isRemoved)
                return former - (world.devices[device]?.faults.active.count ?? 0)
            } ?? 0
        if count > 0 { emulation.publish(.faults(device: device), in: world) }
        network.release(world)
        return count
    }

    private func changeDevice(
        _ device: String, in world: String,
        _ body: (inout EmulatedWorld.Device) -> Void
    ) throws(Problem) {
        let hasPlace = emulation.change(world) { world in
            guard world.devices[device] != nil || world.devices.count < Self.deviceCount else {
                return false
            }
            body(&world.devices[device, default: EmulatedWorld.Device()])
            return true
        }
        if !hasPlace { throw .tooManyDevices(limit: Self.deviceCount) }
    }

    // MARK: - Settling

    private func settle(
        _ world: String, _ request: Request, on loop: any EventLoop,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) throws(Problem) {
        func duration(_ name: String, _ usual: Int64) throws(Problem) -> TimeAmount {
            guard let text = request.parameter(name) else { return .milliseconds(usual) }
            guard let value = Int64(text), (0...600_000).contains(value) else {
                throw .invalidControl("\(name) is not a number of milliseconds from 0 to 600000")
            }
            return .milliseconds(value)
        }
        _ = Settler(
            world, network, on: loop, timeout: try duration("timeout", 10_000), quiet: try duration("quiet", 250),
            obstacles: { [self] in obstacles(in: world) }
        ) {
            complete(.success(.answer(.json($0))))
        }
    }
}

struct ViolationList: Sendable, Equatable, Codable {
    var violations: [EmulatedWorld.Violation]
}
