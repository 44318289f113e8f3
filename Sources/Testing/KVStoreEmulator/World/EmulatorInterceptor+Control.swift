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

    func knownWorld(of exchange: EmulatorExchange) throws(Problem) -> String {
        let world = try exchange.world
        guard isKnown(world) else { throw .unknownWorld }
        return world
    }

    private func admittedWorld(of exchange: EmulatorExchange) throws(Problem) -> String {
        let world = try exchange.world
        try worlds.admit(world)
        return world
    }

    // MARK: - Clock and settings

    func clock(of world: String) -> ClockReport {
        ClockReport(emulation.world(world).clock, real: emulation.now())
    }

    func getClock(_ exchange: EmulatorExchange) throws(Problem) {
        exchange.answer(.json(clock(of: try knownWorld(of: exchange))))
    }

    func setClock(_ exchange: EmulatorExchange) throws(Problem) {
        let world = try admittedWorld(of: exchange)
        let change = try exchange.decode(as: ClockChange.self, depthLimit: limits.jsonDepth)
        if let defect = change.defect { throw .invalidControl(defect) }
        let real = emulation.now()
        emulation.change(world) { change.apply(to: &$0.clock, real: real) }
        emulation.publish(.clock(clock(of: world)), in: world)
        network.release(world)
        exchange.answer(.json(clock(of: world)))
    }

    func getSettings(_ exchange: EmulatorExchange) throws(Problem) {
        exchange.answer(.json(SettingsDocument(emulation.world(try knownWorld(of: exchange)).settings)))
    }

    func setSettings(_ exchange: EmulatorExchange) throws(Problem) {
        let world = try admittedWorld(of: exchange)
        let document = try exchange.decode(as: SettingsDocument.self, depthLimit: limits.jsonDepth)
        if let defect = document.defect { throw .invalidControl(defect) }
        emulation.change(world) { world in
            document.apply(to: &world.settings)
            if document.seed != nil { world.restartRandomness() }
        }
        emulation.publish(.settings, in: world)
        exchange.answer(.json(SettingsDocument(emulation.world(world).settings)))
    }

    func listViolations(_ exchange: EmulatorExchange) throws(Problem) {
        let violations = emulation.world(try knownWorld(of: exchange)).violations
        exchange.answer(.json(ViolationList(violations: Array(violations))))
    }

    // MARK: - Devices

    func faults(of device: String, in name: String) -> [FaultDocument] {
        let (world, now) = (emulation.world(name), emulation.time(in: name))
        return (world.devices[device]?.faults.active ?? []).map { FaultDocument($0, now: now) }
    }

    func listFaults(_ exchange: EmulatorExchange) throws(Problem) {
        let world = try knownWorld(of: exchange)
        exchange.answer(.json(FaultList(faults: faults(of: try exchange.device, in: world))))
    }

    func addFault(_ exchange: EmulatorExchange) throws(Problem) {
        let (world, device) = (try admittedWorld(of: exchange), try exchange.device)
        let fault = try exchange.decode(as: FaultDocument.self, depthLimit: limits.jsonDepth).fault()
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
        var answer = Answer.json(added)
        answer.status = .created
        exchange.answer(answer)
    }

    func removeFaults(_ exchange: EmulatorExchange) throws(Problem) {
        _ = try removeFaults(exchange) { _ in true }
        exchange.answer(.noContent)
    }

    func removeFault(_ exchange: EmulatorExchange) throws(Problem) {
        let count = try removeFaults(exchange) { $0.id == Int(exchange.names[2]) }
        guard count > 0 else { throw .unknownFault }
        exchange.answer(.noContent)
    }

    private func removeFaults(
        _ exchange: EmulatorExchange, where isRemoved: (NetworkFaults.Active) -> Bool
    ) throws(Problem) -> Int {
        let (world, device) = (try knownWorld(of: exchange), try exchange.device)
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

    func setAccount(_ exchange: EmulatorExchange) throws(Problem) {
        let (world, device) = (try admittedWorld(of: exchange), try exchange.device)
        let document = try exchange.decode(as: DeviceAccount.self, depthLimit: limits.jsonDepth)
        if let account = document.account, !Device.isValidAccount(account) {
            throw .invalidControl("account is not 1 to 64 characters of A-Z a-z 0-9 . _ - without a leading dot")
        }
        try changeDevice(device, in: world) { $0.account = document.account }
        emulation.publish(.account(device: device, document.account), in: world)
        network.lose(of: device, in: world)
        exchange.answer(.json(document))
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

    func settle(_ exchange: EmulatorExchange) throws(Problem) {
        let world = try exchange.world
        func duration(_ name: String, _ usual: Int64) throws(Problem) -> TimeAmount {
            guard let text = exchange.request.parameter(name) else { return .milliseconds(usual) }
            guard let value = Int64(text), (0...600_000).contains(value) else {
                throw .invalidControl("\(name) is not a number of milliseconds from 0 to 600000")
            }
            return .milliseconds(value)
        }
        _ = Settler(
            world, network, on: exchange.loop.loop, timeout: try duration("timeout", 10_000),
            quiet: try duration("quiet", 250), obstacles: { [self] in obstacles(in: world) }
        ) {
            exchange.answer(.json($0))
        }
    }
}

struct ViolationList: Sendable, Equatable, Codable {
    var violations: [EmulatedWorld.Violation]
}
