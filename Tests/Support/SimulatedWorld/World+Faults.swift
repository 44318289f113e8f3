import KVStoreCore
import KVStoreLog
import KVStoreSimulation
import KVStoreTesting

extension World {
    /// Injects a fault, or does what users do to their machines; `kind` is in 0..<46.
    func injectFault(_ kind: Int) throws(Violation) {
        switch kind {
        case 0..<6 where options.hasCrashes:
            if let address = anyProcess() { try kill(address) }
        case 6..<9 where options.hasCrashes: powerFails(anyDevice())
        case 9..<14 where options.hasCrashes: daemonFails(losesPower: kind >= 12)
        case 14..<20 where options.hasNetworkFaults: injectNetworkFault(on: anyDevice())
        case 20..<24 where options.hasClockFaults: stepClock()
        case 24 where options.hasClockFaults: stepDaemonClock()
        case 25..<30 where options.hasDiskFaults: failDisk(of: anyDevice())
        case 30..<32 where options.hasDiskFaults: failDaemonDisk()
        case 32 where options.hasDiskFaults: flipBit(of: anyDevice())
        case 33 where options.hasRestores: try flipDaemonBit()
        case 34..<36: try collectTombstones()
        case 36 where options.hasRestores: backUp()
        case 37 where options.hasRestores: try restore()
        case 38..<40 where options.hasAccounts: switchAccount()
        case 40..<42 where options.hasCopies: replaceDirectory(of: anyDevice())
        case 42 where options.hasDiskFaults && options.goesOnAfterFailures: failWrite()
        case 43..<46 where options.hasNetworkFaults: injectNetworkFault(on: anyDevice())
        default: break
        }
    }

    private func anyDevice() -> Int { Int.random(in: devices.indices, using: &random) }

    private static let clockSteps: [Int64] = [900, 45_000, 3_600_000, 86_400_000, 31_536_000_000]

    /// A device's clock steps, at times by a day or a year.
    private func stepClock() {
        let device = anyDevice()
        let size = Self.clockSteps.randomElement(using: &random)!
        devices[device].clockError = Bool.random(using: &random) ? delay(-size...size) : 0
        log("clock", "d\(device) \(devices[device].clockError)")
    }

    private func stepDaemonClock() {
        let size = Self.clockSteps.randomElement(using: &random)!
        daemon.clockError = Bool.random(using: &random) ? delay(-size...size) : 0
        log("daemon clock", "\(daemon.clockError)")
    }

    /// A fault that strikes one of the next calls, or a limit of space.
    func drawFaults(segmentCount: Int) -> FaultPlan {
        var faults = FaultPlan()
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let number = Int.random(in: 1...6, using: &random)
            faults.aim(.kill(after: nil), at: .write, number: number)
        case 1: faults.aim(.losePages, at: .sync, number: Int.random(in: 1...3, using: &random))
        case 2: faults.aim(.fail(5), number: Int.random(in: 1...20, using: &random))
        default: faults.capacity = options.segmentByteCount * Int.random(in: 0...segmentCount, using: &random)
        }
        return faults
    }

    private func failDisk(of device: Int) {
        devices[device].disk.faults = drawFaults(segmentCount: 3)
        log("disk", "d\(device) \(devices[device].disk.faults)")
    }

    /// One of the next writes fails with a part of it done, and at times those that follow it.
    private func failWrite() {
        let device = Int.random(in: -1..<devices.count, using: &random)
        let disk = device < 0 ? daemon.disk : devices[device].disk
        let number = Int.random(in: 1...3, using: &random)
        let times = Int.random(in: 1...3, using: &random)
        disk.faults.aim(.tear(nil), at: .write, number: number, times: times)
        log("failing write", device < 0 ? "daemon" : "d\(device)")
    }

    /// Whether a program or the daemon continues after a call to its storage has failed.
    func livesThrough(_ error: LogError, of storage: SimulatedStorage) -> Bool {
        guard case .storage = error, !storage.isKilled, options.goesOnAfterFailures else {
            return false
        }
        count("went on after a failed call")
        return true
    }

    private func flipBit(of device: Int) {
        powerFails(device)
        devices[device].wasDamaged = true
        let tail: Int? = Bool.random(using: &random) ? 64 : nil
        if devices[device].disk.flipBit(inLastBytes: tail) {
            log("bit flip", "d\(device) \(tail.map(String.init) ?? "anywhere")")
        }
    }

    // MARK: - Users and their machines

    /// A machine's account goes, and the other one comes. The replica of the former stays on disk.
    private func switchAccount() {
        let machine = Int.random(in: 0..<options.deviceCount, using: &random)
        let seats = [2 * machine, 2 * machine + 1]
        for seat in seats {
            devices[seat].isSignedIn.toggle()
            log("account", "d\(seat) \(devices[seat].isSignedIn ? "comes" : "goes")")
            if devices[seat].isSignedIn {
                for process in devices[seat].processes.indices {
                    queue.add(.start(device: seat, process: process), at: time + 10)
                }
            } else {
                endPrograms(of: seat)
            }
        }
    }

    private func endPrograms(of device: Int) {
        for index in devices[device].processes.indices {
            guard let process = devices[device].processes[index] else { continue }
            let address = ProcessAddress(device: device, process: index, incarnation: process.incarnation)
            guard makeDurable(address) else { continue }
            devices[device].processes[index] = nil
        }
    }

    /// A replica directory is copied from another machine, restored from a backup, or lost.
    private func replaceDirectory(of device: Int) {
        let choice = Int.random(in: 0..<4, using: &random)
        if choice == 0 {
            devices[device].backup = devices[device].disk.snapshot()
            log("replica backup", "d\(device)")
            return
        }
        for index in devices[device].processes.indices where devices[device].processes[index] != nil {
            ended(device, index)
        }
        switch choice {
        case 1:
            guard let backup = devices[device].backup else { return }
            log("replica restored", "d\(device)")
            devices[device].disk.restore(backup)
        case 2:
            let others = devices.indices.filter {
                $0 != device && devices[$0].store == devices[device].store
            }
            guard let other = others.randomElement(using: &random) else { return }
            log("replica copied", "d\(other) to d\(device)")
            devices[device].disk.restore(devices[other].disk.snapshot())
            devices[device].wasDamaged = devices[device].wasDamaged || devices[other].wasDamaged
        default:
            log("reinstall", "d\(device)")
            devices[device].disk.restore([:])
        }
        devices[device].wasReplaced()
        hasRestored = true
    }
}
