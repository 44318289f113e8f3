package import KVStoreCore
import KVStoreEssentials
package import KVStoreWire
import LocalFiles
package import Logging
import Synchronization

/// The devices of a running server: follows devices.json or, without a file, holds those that were added; and knows
/// which devices have been seen and are connected. Safe to call from any thread.
package final class DeviceRegistry: DeviceDirectory {
    struct State {
        private(set) var table: DeviceTable
        /// Always those of the table.
        var accounts: AccountRegistry? {
            didSet { accounts?.replace(with: table.presentAccounts) }
        }
        private(set) var index: [TokenDigest: Device]
        /// Changes with the table, unless that only grows.
        private(set) var generation: UInt64 = 0
        /// The file that `table` was read from.
        var status: FileStatus?
        /// Why the file could not be read last time.
        var error: ServerError?
        var presence = DevicePresence()

        init(table: DeviceTable, status: FileStatus? = nil) {
            self.table = table
            self.status = status
            index = table.index
        }

        /// Does nothing if the table is equal.
        mutating func replace(_ table: DeviceTable) {
            guard table != self.table else { return }
            self.table = table
            index = table.index
            accounts?.replace(with: table.presentAccounts)
            generation += 1
        }

        mutating func append(inMemory device: Device) {
            table.append(inMemory: device)
            index[device.tokenSHA256] = device
        }
    }

    /// Nil if the devices are in memory only.
    let file: DeviceFile?
    private let logger: Logger
    let state: Mutex<State>
    private let observers = Mutex<[@Sendable () -> Void]>([])
    private let watch = Mutex<(any DirectoryWatch)?>(nil)

    /// Creates the file if it is missing.
    init(_ file: DeviceFile, logger: Logger) throws(ServerError) {
        self.file = file
        self.logger = logger
        var found = try file.read()
        if found == nil {
            try file.change { _ in }
            found = try file.read()
        }
        guard let found else { throw ServerError(.storage, "\(file.file.path) was removed while it was opened") }
        state = Mutex(State(table: found.table, status: found.status))
    }

    /// In memory, without devices.
    package init(instance: EpochID, logger: Logger) {
        file = nil
        self.logger = logger
        state = Mutex(State(table: DeviceTable(instance: instance.description)))
    }

    /// Watches the file from now on, and keeps `accounts` up to date. `notify` runs after devices have changed, on the
    /// thread that noticed.
    package func observe(updating accounts: AccountRegistry, _ notify: @escaping @Sendable () -> Void) {
        addObserver(notify)
        guard let file else { return }
        state.withLock { $0.accounts = accounts }
        let watch = WatchedDirectory.watch(file.file.directory.path) { [weak self] in
            self?.refresh()
        }
        self.watch.withLock { $0 = watch }
        // Catches changes from before the watch began.
        refresh()
    }

    package func addObserver(_ notify: @escaping @Sendable () -> Void) {
        observers.withLock { $0.append(notify) }
    }

    package func close() async {}

    package var storage: (any DeviceStorage)? { file }

    package var isReadable: Bool { true }
    package var countLimit: Int { DeviceTable.deviceCount }

    package var count: Int { withCurrent { $0.table.devices.count } }

    package var instance: String { withCurrent { $0.table.instance } }

    package var table: DeviceTable { withCurrent { $0.table } }

    package func refresh() { withCurrent { _ in } }

    /// The generation of the table, after a look at the file.
    package var generation: UInt64 { withCurrent { $0.generation } }

    package func change<Value: Sendable>(
        _ selection: DeviceSelection, _ body: (inout DeviceTable) throws(ServerError) -> Value
    ) throws(ServerError) -> Value {
        if let file {
            defer { refresh() }
            return try file.change(selection, body)
        }
        return try withCurrent { state in
            var table = state.table
            return Result { () throws(ServerError) in
                let value = try body(&table)
                state.replace(table)
                return value
            }
        }.get()
    }

    /// The device that a token authenticates, noted as seen now.
    package func authenticate(_ digest: TokenDigest, now: Int64) -> Device? {
        withCurrent { state in
            let device = state.index[digest]
            if let device { state.presence.markSeen(device.id, now: now) }
            return device
        }
    }

    package func find(_ digest: TokenDigest, now: Int64) -> FoundDevice {
        authenticate(digest, now: now).map(FoundDevice.device) ?? .unknown
    }

    /// All devices are in memory.
    package func lookUp(_ digest: TokenDigest, _ complete: @escaping @Sendable (Problem?) -> Void) {
        complete(nil)
    }

    package func markSeen(_ id: String, now: Int64) {
        state.withLock { $0.presence.markSeen(id, now: now) }
    }

    package func isCurrent(_ device: Device) -> Bool {
        withCurrent { state in
            state.index[device.tokenSHA256]?.hasSamePermissions(as: device) ?? false
        }
    }

    package func presence(of id: String) -> (lastSeen: Int64?, isConnected: Bool) {
        state.withLock { ($0.presence.lastSeen[id], $0.presence.streams[id] != nil) }
    }

    package func openStream(_ id: String, limit: Int, now: @escaping @Sendable () -> Int64) -> StreamSlot? {
        guard state.withLock({ $0.presence.openStream(id, limit: limit) }) else { return nil }
        return StreamSlot { [self] in
            state.withLock { $0.presence.closeStream(id, now: now()) }
        }
    }

    package func describe(account: String, _ complete: @escaping @Sendable (Result<[DaemonDevice], Problem>) -> Void) {
        complete(.success(table.devices.filter { $0.account == account }.map(describe)))
    }

    package func describe(_ device: Device) -> DaemonDevice {
        let presence = presence(of: device.id)
        return DaemonDevice(device, lastSeen: presence.lastSeen, isConnected: presence.isConnected)
    }

    package func devices(
        ofAccounts accounts: Set<String>, _ complete: @escaping @Sendable (Result<[Device], Problem>) -> Void
    ) {
        complete(.success(table.devices.filter { accounts.contains($0.account) }))
    }

    package func admits(account: String) -> Bool { table.presentAccounts[account] != nil }

    /// Adds a device to those in memory, noted as seen now.
    ///
    /// Precondition: there is no file, and neither its id nor its name is in the table.
    package func add(inMemory device: Device, now: Int64) {
        precondition(file == nil, "the devices are those of a file")
        state.withLock { state in
            state.append(inMemory: device)
            state.presence.markSeen(device.id, now: now)
        }
    }

    /// Removes devices in memory, except for those with a live stream. Precondition: there is no file.
    package func removeDisconnected(where isRemoved: @Sendable (Device) -> Bool) {
        precondition(file == nil, "the devices are those of a file")
        state.withLock { state in
            var table = state.table
            table.removeDevices { state.presence.streams[$0.id] == nil && isRemoved($0) }
            state.replace(table)
            let ids = Set(table.devices.map(\.id))
            state.presence.keep(ids.contains)
        }
    }

    private func withCurrent<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        let (value, isChanged) = state.withLock { state in
            let former = state.generation
            refresh(&state)
            return (body(&state), state.generation != former)
        }
        if isChanged { for notify in observers.withLock({ $0 }) { notify() } }
        return value
    }

    /// Reads the file again when it has changed. An unreadable file changes nothing until it is replaced, and neither
    /// does a missing one: its directory may have been moved away or not be mounted. After an error of the system (too
    /// many open files, for example) the next call tries again: a removed device must not stay because of it.
    private func refresh(_ state: inout State) {
        guard let file else { return }
        let status = (try? FileStatus(path: file.file.path)) ?? nil  // reading the file reports what is wrong
        guard status != state.status else { return }
        do throws(ServerError) {
            let found = try file.read()
            if found == nil, state.status != nil, !state.table.devices.isEmpty {
                state.status = nil
                throw ServerError(
                    .unreadable, "\(file.file.path) is gone",
                    hint: "put it back, or start the daemon again without devices")
            }
            let table = found?.table ?? DeviceTable(instance: state.table.instance)
            state.replace(table)
            state.status = found?.status
            state.error = nil
            let known = Set(state.table.devices.map(\.id))
            state.presence.keep(known.contains)
        } catch {
            if error.code != .storage { state.status = status }
            if error != state.error { logger.error("devices unchanged: \(error)") }
            state.error = error
        }
    }
}

/// One live stream of a device, released with the last reference even if the stream never ran.
package final class StreamSlot: Sendable {
    private let release: @Sendable () -> Void

    package init(release: @escaping @Sendable () -> Void) { self.release = release }

    deinit { release() }
}
