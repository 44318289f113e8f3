import KVStoreWire
import Synchronization

/// The devices of an emulator. They exist from the first request with a token that names them.
extension DeviceRegistry {
    /// The device that the token names, noted as seen now.
    func admit(
        _ token: WorldToken, limits: EmulatorLimits, now: Int64
    ) throws(Problem) -> Device {
        let digest = token.digest
        return try state.withLock { state in
            if let device = state.index[digest] {
                state.lastSeen[device.id] = now
                return Result<Device, Problem>.success(device)
            }
            guard state.table.devices.count < limits.deviceCount else {
                return .failure(.tooManyDevices(limit: limits.deviceCount))
            }
            let isNew = state.worlds.insert(token.world).inserted
            guard state.worlds.count <= limits.worldCount else {
                if isNew { state.worlds.remove(token.world) }
                return .failure(.tooManyWorlds(limit: limits.worldCount))
            }
            let device = Device(
                token.device,
                DevicePermissions(account: token.world, isAdmin: true, isTrusted: true),
                id: token.deviceID, created: now, tokenSHA256: digest)
            state.append(emulated: device)
            state.lastSeen[device.id] = now
            return .success(device)
        }.get()
    }

    /// Counts a world without devices among those that there may be.
    func admit(world: String, limits: EmulatorLimits) throws(Problem) {
        let hasPlace = state.withLock { state in
            guard !state.worlds.contains(world) else { return true }
            guard state.worlds.count < limits.worldCount else { return false }
            state.worlds.insert(world)
            return true
        }
        if !hasPlace { throw .tooManyWorlds(limit: limits.worldCount) }
    }

    /// Forgets the devices of a world, or of all, that have no live stream, and worlds without devices.
    func forgetAbsentDevices(ofWorld world: String?) {
        state.withLock { state in
            var table = state.table
            table.removeDevices { device in
                (world == nil || device.account == world) && state.streams[device.id] == nil
            }
            state.replace(table)
            let ids = Set(table.devices.map(\.id))
            state.lastSeen = state.lastSeen.filter { ids.contains($0.key) }
            let remaining = Set(table.devices.map(\.account))
            state.worlds = state.worlds.filter {
                remaining.contains($0) || world != nil && $0 != world
            }
        }
    }

    /// The worlds that have been used since the start or since they were reset, sorted.
    var worlds: [String] { state.withLock { $0.worlds.sorted() } }
}
