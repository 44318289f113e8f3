import KVStoreServer
import KVStoreWire
import Synchronization

/// The worlds that tokens have named since the start or since they were reset, and their devices. They exist from the
/// first request that names them. Safe to call from any thread.
final class WorldRegistry: Sendable {
    let devices: DeviceRegistry
    private let limits: EmulatorLimits
    private let present = Mutex<Set<String>>([])

    init(_ devices: DeviceRegistry, _ limits: EmulatorLimits) {
        self.devices = devices
        self.limits = limits
    }

    /// The device that the token names, noted as seen now.
    func admit(_ token: WorldToken, now: Int64) throws(Problem) -> Device {
        let digest = token.digest
        if let device = devices.authenticate(digest, now: now) { return device }
        guard devices.table.devices.count < limits.deviceCount else {
            throw .tooManyDevices(limit: limits.deviceCount)
        }
        try admit(token.world)
        let device = Device(
            token.device, DevicePermissions(account: token.world, isAdmin: true, isTrusted: true), id: token.deviceID,
            created: now, tokenSHA256: digest)
        devices.add(inMemory: device, now: now)
        return device
    }

    /// Counts a world, which may have no devices, among those that there may be.
    func admit(_ world: String) throws(Problem) {
        let hasPlace = present.withLock { present in
            guard present.count < limits.worldCount else { return present.contains(world) }
            present.insert(world)
            return true
        }
        if !hasPlace { throw .tooManyWorlds(limit: limits.worldCount) }
    }

    /// Forgets the devices of a world, or of all, that have no live stream, and worlds without devices.
    func forgetAbsentDevices(ofWorld world: String?) {
        devices.removeDisconnected { world == nil || $0.account == world }
        let remaining = Set(devices.table.devices.map(\.account))
        present.withLock { present in present = present.filter { remaining.contains($0) || world != nil && $0 != world }
        }
    }

    func contains(_ world: String) -> Bool { present.withLock { $0.contains(world) } }

    var names: Set<String> { present.withLock { $0 } }
}
