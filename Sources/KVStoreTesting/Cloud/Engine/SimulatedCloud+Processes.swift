import KVStore
import KVStoreCore
import KVStoreLog
import Synchronization
import LocalFiles

extension SimulatedCloud {
    /// Opens the store of a process that does not run.
    func start(_ program: Program, with configuration: StoreConfiguration) throws(StoreError) {
        let life = Life()
        note("\(program.label) starts")
        let store = try UbiquitousKeyValueStore(
            configuration: configuration, runtime: runtime(of: program, life: life))
        program.start(store, life: life)
    }

    func restart(_ programs: [Program], after end: CloudDevice.End) throws(StoreError) {
        guard let machine = programs.first?.machine else { return }
        note("\(programs.map(\.label).joined(separator: " and ")) ends: \(end)")
        let configurations = programs.map { program in
            program.run?.store.configuration
                ?? machine.configuration(account: machine.state.withLock { $0.account })
        }
        for program in programs { program.end(isOrderly: end == .quit) }
        if end == .powerFailure {
            let directories = machine.state.withLock { $0.directories }
            for (_, directory) in directories.sorted(by: { $0.key < $1.key }) {
                directory.disk.powerFails()
            }
        }
        for (program, configuration) in zip(programs, configurations) {
            try start(program, with: configuration)
        }
    }

    /// What a store of a simulated process stands on: the machine's disks and clock, and the cloud's agenda.
    private func runtime(of program: Program, life: Life) -> StoreRuntime {
        let machine = program.machine
        return StoreRuntime(
            openStorage: { [weak self, weak machine] directory throws(FileError) in
                guard let self, let machine else { throw Self.isGone(directory) }
                return self.directory(directory, of: machine).storage(for: life)
            },
            now: { [weak machine, clock] in
                machine?.instant
                    ?? Instant(
                        wall: VirtualClock.start + clock.milliseconds,
                        monotonic: clock.milliseconds)
            },
            newSeed: { [weak self] in self?.newSeed() ?? 0 },
            after: { [weak self, weak program] milliseconds, body in
                guard let self, let program else { return }
                schedule(.timer(program, life, body), after: milliseconds)
            },
            watch: { [weak self, weak program, weak machine] directory, changed in
                guard let self, let machine else { return Unwatched() }
                return self.directory(directory, of: machine).watch(id: newID(), life: life) {
                    [weak self, weak program] in
                    guard let self, let program else { return }
                    schedule(.directoryChanged(program, life, changed), after: 1)
                }
            },
            makeDriver: { [weak self, weak program] configuration in
                guard let transport = configuration.transport as? CloudTransport, let self,
                    let program
                else { return nil }
                return CloudDriver(
                    cloud: self, program: program, life: life,
                    storeID: StoreID(account: transport.account, name: configuration.storeName))
            })
    }

    private func directory(_ path: String, of machine: Machine) -> ReplicaDirectory {
        if let directory = machine.state.withLock({ $0.directories[path] }) { return directory }
        let new = ReplicaDirectory(seed: newSeed())
        return machine.state.withLock { state in
            let directory = state.directories[path] ?? new
            state.directories[path] = directory
            return directory
        }
    }

    private static func isGone(_ directory: String) -> FileError {
        FileError(operation: "open", path: directory, code: 2)
    }
}

/// The watch of a folder that is gone.
private final class Unwatched: DirectoryWatch {
    func cancel() {}
}
