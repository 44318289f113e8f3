import KVStore
import KVStoreCore
import KVStoreLog
import KVStoreSimulation
import Synchronization
import LocalFiles

extension SimulatedCloud {
    /// Opens the store of a process that does not run.
    @discardableResult
    func start(
        _ program: Program, with configuration: StoreConfiguration
    ) throws(StoreError) -> UbiquitousKeyValueStore {
        let life = Life()
        log("\(program.label) starts")
        record("started", of: program.label) { event in
            event.store = configuration.storeName
            event.account = .some((configuration.transport as? CloudTransport)?.account)
            let error = program.machine.state.withLock { $0.clockError }
            if error != 0 { event.milliseconds = error }
        }
        let store = try UbiquitousKeyValueStore(configuration: configuration, runtime: runtime(of: program, life: life))
        program.start(store, life: life)
        return store
    }

    /// Ends a program and starts it again; a power failure ends all programs of its machine.
    func restart(_ program: Program, after end: CloudDevice.End) throws(StoreError) {
        let machine = program.machine
        let programs = end == .powerFailure ? machine.programs : [program]
        log("\(programs.map(\.label).joined(separator: " and ")) ends: \(end)")
        for program in programs { record("ended", of: program.label) { $0.end = "\(end)" } }
        let configurations = programs.map { program in
            program.run?.store.configuration
                ?? configuration(of: machine, account: machine.state.withLock { $0.account })
        }
        for program in programs { program.end(isOrderly: end == .quit) }
        if end == .powerFailure {
            let directories = machine.state.withLock { $0.directories.values }
            for directory in directories { directory.disk.powerFails() }
        }
        for (program, configuration) in zip(programs, configurations) {
            try start(program, with: configuration)
        }
    }

    /// What a store of a simulated process stands on: the machine's disks and clock, and the cloud's agenda.
    private func runtime(of program: Program, life: Life) -> StoreRuntime {
        let machine = program.machine
        var runtime = StoreRuntime(
            openStorage: { [weak self, weak machine] directory throws(FileError) in
                guard let self, let machine else { throw Self.isGone(directory) }
                return self.directory(directory, of: machine).storage(for: life)
            },
            now: { [weak machine, virtualClock] in
                machine?.instant ?? virtualClock.instant()
            },
            newSeed: { [weak self] in self?.newSeed() ?? 0 },
            after: { [weak self, weak program] milliseconds, body in
                guard let self, let program else { return }
                schedule(.local(program, life, "writes to its disk", body), after: milliseconds)
            },
            watch: { [weak self, weak program, weak machine] path, changed in
                // Nothing writes into a directory whose cloud is gone.
                let directory =
                    if let self, let machine { self.directory(path, of: machine) } else {
                        ReplicaDirectory(seed: 0)
                    }
                return directory.watch(life: life) { [weak self, weak program] in
                    guard let self, let program else { return }
                    schedule(.local(program, life, "reads its files", changed), after: 1)
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
        runtime.isSimulated = true
        runtime.post = { [weak program, weak machine] announcement, objects in
            guard let program, let machine else { return }
            program.post(announcement, of: objects, on: machine)
        }
        runtime.didWrite = { [weak self, weak program] key, content in
            guard let self, let program else { return }
            countWrite(of: key, by: program)
            recordWrite(of: key, content, by: program)
        }
        return runtime
    }

    /// How a device opens its store. Whoever opens another one with it is another process of the device.
    func configuration(of machine: Machine, account: String?) -> StoreConfiguration {
        let options = machine.options
        var configuration = StoreConfiguration(
            directory: Self.directory(of: machine, account, options.storeName), storeName: options.storeName,
            limits: options.limits, transport: account.map(CloudTransport.init), isLive: options.isLive,
            notificationKeyCount: options.notificationKeyCount)
        configuration.accountChangeNamesKeys = options.accountChangeNamesKeys
        configuration.onDroppedWrite = { [weak self, weak machine] error in
            guard let self, let machine else { return }
            recordDroppedWrite(error, on: machine)
        }
        configuration.openSimulated = { [weak self, weak machine] opened throws(StoreError) in
            guard let self, let machine else {
                throw StoreError(
                    .closed, operation: "open", subject: "a store of a simulated device",
                    reason: "its simulated cloud is gone")
            }
            var configuration = opened
            configuration.directory = Self.directory(of: machine, account, opened.storeName)
            return try open(configuration, on: machine)
        }
        return configuration
    }

    private static func directory(of machine: Machine, _ account: String?, _ storeName: String) -> String {
        "/\(machine.name)/\(account.map { "account-" + $0 } ?? "local")/\(storeName)"
    }

    private func open(
        _ configuration: StoreConfiguration, on machine: Machine
    ) throws(StoreError) -> UbiquitousKeyValueStore {
        try machine.opening.withLock { _ throws(StoreError) in
            let program = Program(name: "process \(machine.programs.count + 1)", machine: machine)
            let store = try start(program, with: configuration)
            machine.state.withLock { $0.programs.append(program) }
            return store
        }
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
