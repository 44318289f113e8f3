package import KVStoreCore
import KVStoreEssentials
import LocalFiles
package import Logging
import Synchronization

/// The devices of a running server: follows devices.json or, without a file, holds those that were added; and knows which
/// devices have been seen and are connected. Safe to call from any thread.
package final class DeviceRegistry: Sendable {
    struct State {
        private(set) var table: DeviceTable
        /// Always those of the table.
        var accounts: AccountRegistry? {
            didSet { accounts?.replace(with: table.presentAccounts) }
        }
        private(set) var index: [TokenDigest: Device]
        /// Changes with the table, unless that only grows.
        private(set) var generation: UInt64 = 0
        /// Of the file that `table` was read from.
        var status: FileStatus?
        /// Why the file could not be read last time.
        var error: ServerError?
        /// Milliseconds since 1970, by device id.
        var lastSeen: [String: Int64] = [:]
        /// Open live streams by device id.
        var streams: [String: Int] = [:]

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
        guard let found else {
            throw ServerError(.storage, "\(file.file.path) was removed while it was opened")
        }
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
    func observe(
        updating accounts: AccountRegistry, _ notify: @escaping @Sendable () -> Void
    ) {
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

    /// Runs `notify` after devices have changed, on the thread that noticed.
    func addObserver(_ notify: @escaping @Sendable () -> Void) {
        observers.withLock { $0.append(notify) }
    }

    package var table: DeviceTable { withCurrent { $0.table } }

    /// Notices changes of the file now, instead of with the next call or notification.
    func refresh() { withCurrent { _ in } }

    /// The generation of the table, after a look at the file.
    var generation: UInt64 { withCurrent { $0.generation } }

    /// Changes the devices; in force, and durable if there is a file, on return.
    func change<Value: Sendable>(
        _ body: (inout DeviceTable) throws(ServerError) -> Value
    ) throws(ServerError) -> Value {
        if let file {
            defer { refresh() }
            return try file.change(body)
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
            if let device { state.lastSeen[device.id] = now }
            return device
        }
    }

    func noteSeen(_ id: String, now: Int64) { state.withLock { $0.lastSeen[id] = now } }

    /// Whether the device still exists with the same permissions.
    package func isCurrent(_ device: Device) -> Bool {
        withCurrent { state in
            state.index[device.tokenSHA256]?.hasSamePermissions(as: device) ?? false
        }
    }

    /// When the device was last seen, in milliseconds since 1970, and whether it has a live stream.
    package func presence(of id: String) -> (lastSeen: Int64?, isConnected: Bool) {
        state.withLock { ($0.lastSeen[id], $0.streams[id] != nil) }
    }

    /// Counts a live stream until the slot's last reference is gone; nil when the device has `limit`
    /// streams already.
    func openStream(_ id: String, limit: Int, now: @escaping @Sendable () -> Int64) -> StreamSlot? {
        state.withLock { state in
            guard state.streams[id, default: 0] < limit else { return nil }
            state.streams[id, default: 0] += 1
            return StreamSlot { [self] in closeStream(id, now: now()) }
        }
    }

    private func closeStream(_ id: String, now: Int64) {
        state.withLock { state in
            let rest = state.streams[id, default: 1] - 1
            state.streams[id] = rest > 0 ? rest : nil
            state.lastSeen[id] = now
        }
    }

    /// Adds a device to those in memory, noted as seen now.
    ///
    /// Precondition: there is no file, and neither its id nor its name is in the table.
    package func add(inMemory device: Device, now: Int64) {
        precondition(file == nil, "the devices are those of a file")
        state.withLock { state in
            state.append(inMemory: device)
            state.lastSeen[device.id] = now
        }
    }

    /// Removes devices in memory, except for those with a live stream. Precondition: there is no file.
    package func removeDisconnected(where isRemoved: @Sendable (Device) -> Bool) {
        precondition(file == nil, "the devices are those of a file")
        state.withLock { state in
            var table = state.table
            table.removeDevices { state.streams[$0.id] == nil && isRemoved($0) }
            state.replace(table)
            let ids = Set(table.devices.map(\.id))
            state.lastSeen = state.lastSeen.filter { ids.contains($0.key) }
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

    /// Reads the file again when it has changed; without a file there are no devices. An unreadable
    /// file changes nothing until it is replaced. After an error of the system (too many open files,
    /// for example) the next call tries again: a removed device must not stay because of it.
    private func refresh(_ state: inout State) {
        guard let file else { return }
        let status = (try? FileStatus(path: file.file.path)) ?? nil
        guard status != state.status else { return }
        do throws(ServerError) {
            let found = try file.read()
            let table = found?.table ?? DeviceTable(instance: state.table.instance)
            state.replace(table)
            state.status = found?.status
            state.error = nil
            let known = Set(state.table.devices.map(\.id))
            state.lastSeen = state.lastSeen.filter { known.contains($0.key) }
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
