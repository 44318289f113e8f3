import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import LocalFiles
import Synchronization
import UsagePusher
import UsageState

/// Reads what the viewer shows. The only code of the viewer that knows the store.
struct UsageReader: Sendable {
    let store: UbiquitousKeyValueStore
    private let history = LinkHistory()

    /// Opens a store; repairs are reported on standard error, before a live screen hides it.
    ///
    /// - Parameter isLive: whether changes are followed.
    static func open(storeNamed name: String, isLive: Bool) throws -> UsageReader {
        var configuration = try StoreEnvironment().configuration(storeNamed: name, isLive: isLive)
        configuration.isWatched = isLive
        let store = try UbiquitousKeyValueStore(configuration: configuration)
        for note in store.status.recoveryNotes { Console.report(note) }
        return UsageReader(store: store)
    }

    /// Opens a store, synchronizes it for at most `seconds`, and closes it again.
    ///
    /// - Parameter body: gets the store once the daemon has answered, or the time has passed.
    static func read<Value>(
        storeNamed name: String, within seconds: Double, _ body: (UsageReader) throws -> Value
    ) async throws -> Value {
        let reader = try open(storeNamed: name, isLive: false)
        defer { reader.store.close() }
        _ = await reader.synchronize(within: seconds)
        return try body(reader)
    }

    /// Changes a value that is the same on all machines of the account.
    ///
    /// - Parameter choose: from the present values, a key and its new value, nil to remove it.
    /// - Returns: the end of a message about the delivery.
    static func change(
        storeNamed name: String, _ choose: ([String: Data]) throws -> (key: String, value: Data?)
    ) async throws -> String {
        let seconds = 5.0
        let reader = try open(storeNamed: name, isLive: false)
        defer { reader.store.close() }
        _ = await reader.synchronize(within: seconds)
        let (key, value) = try choose(reader.store.data { $0.hasPrefix(AlertNotice.sharedPrefix) })
        try reader.store.write([key: value.map { .data($0) }])
        let isDelivered = await reader.synchronize(within: seconds)
        // For the hooks of agents.
        _ = reader.data(isOnline: isDelivered)
        return isDelivered
            ? "" : reader.isJoined ? "; it is delivered when the daemon answers" : "; no account is joined"
    }

    /// What was said of projects, in the store of the snapshots.
    var projects: ProjectRules { ProjectRules(stored: store.data(where: ProjectRules.isKey)) }

    /// Asked of the store each time, because an account may be joined or left while it is open.
    var isJoined: Bool { store.configuration.transport != nil }

    /// - Parameter isOnline: whether the daemon responded lately.
    func data(isOnline: Bool) -> UsageData {
        let files = GateFiles()
        guard files.isInUse else { return read(isOnline: isOnline) }
        var data: UsageData?
        // For the hooks of agents, see `GateFiles`.
        files.updateUsage {
            try? store.refresh()  // A damaged log leaves what was read before.
            let usage = read(isOnline: isOnline)
            data = usage
            return gateUsage(usage).data
        }
        return data ?? read(isOnline: isOnline)
    }

    /// What the gate knows of that usage.
    func gateUsage(_ data: UsageData) -> GateUsage {
        let rules = GateRules(stored: store.data(where: GateRules.isKey))
        return GateUsage(data, rules: rules, device: Self.device, now: Date())
    }

    private func read(isOnline: Bool) -> UsageData {
        UsageData(
            link: link(isOnline: isOnline), values: store.data(where: UsageData.isKey), now: Date(),
            devices: accountDevices?.lastListed)
    }

    /// The id under which this machine pushes; nil if it does not, or it cannot be read.
    static var device: String? { (try? DeviceIdentityFile(dataDirectory: UserDirectories().data).read()) ?? nil }

    /// Nil while no account is joined.
    private var accountDevices: AccountDevices? { store.configuration.credentials.map { AccountDevices($0) } }

    /// Asks the daemon for the devices of the account.
    ///
    /// - Returns: what it said last if it does not respond.
    func devices(within limit: Duration) async -> KnownDevices {
        guard let credentials = store.configuration.credentials, let accountDevices else { return .unreachable }
        func known(_ answer: AccountDevices.Answer) -> [KnownDevice] {
            answer.devices.map { KnownDevice($0, shownBy: credentials.daemonDeviceID) }
        }
        let client = DaemonClient(credentials, environment: StoreEnvironment(), timeouts: HTTPTimeouts(request: limit))
        defer { client.close() }
        // Else what it said last.
        if let answer = try? await accountDevices.ask(client) { return .known(known(answer)) }
        return accountDevices.lastAnswer.map { .lastKnown(known($0)) } ?? .unreachable
    }

    private func link(isOnline: Bool) -> UsageData.Link {
        guard isJoined else { return .notJoined }
        if StoreEnvironment().isRemoved(store.configuration.credentials) { return .removed }
        let status = store.status
        let lastSync = status.lastSyncMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
        let lastSeen = history.lastSeen(status.connection, lastSync: lastSync, at: Date())
        return isOnline ? .online : .offline(lastSeen: lastSeen)
    }

    var isOnline: Bool {
        switch store.status.connection {
        case .connected, .idle: true
        case .local, .offline: false
        }
    }

    /// Synchronizes once and asks for the devices, for at most `seconds`. Returns what to show.
    func refreshed(within seconds: Double) async -> UsageData {
        guard isJoined, seconds > 0 else { return data(isOnline: isOnline) }
        async let devices = devices(within: .seconds(seconds))
        let isOnline = await synchronize(within: seconds)
        let known = await devices
        var data = data(isOnline: isOnline)
        data.known = known
        return data
    }

    /// Synchronizes once, for at most `seconds`.
    ///
    /// - Returns: whether the daemon responded.
    func synchronize(within seconds: Double) async -> Bool {
        guard isJoined, seconds > 0 else { return isOnline }
        // Why it did not is the state of the connection.
        return (try? await store.synchronizeNow(within: .seconds(seconds))) != nil
    }

    /// Returns when the daemon has responded, however long that takes, or the task is cancelled. For a connection that
    /// may have broken unnoticed.
    func verify() async {
        while isJoined, await !synchronize(within: 10) {
            guard (try? await Task.sleep(for: .seconds(5))) != nil else { return }  // Cancelled.
        }
    }
}

extension AccountDevices {
    /// What the daemon answered last, for what is read from the store.
    var lastListed: ListedDevices? { lastAnswer.map { ListedDevices($0.devices, listedAt: $0.received) } }
}

extension UsageData {
    /// The result of `read`, now and after every event of the streams; finishes when all have.
    ///
    /// Events only trigger a read. Reads do not overlap, and each begins after the event that triggered it, so the
    /// last value is the state after the last event. A slow consumer gets one value for several events.
    static func following<Value: Sendable, Connections: Sendable, Changes: Sendable>(
        _ connections: AsyncStream<Connections>, _ changes: AsyncStream<Changes>,
        _ others: AsyncStream<Void> = AsyncStream { $0.finish() }, read: @escaping @Sendable () async -> Value
    ) -> some AsyncSequence<Value, Never> & Sendable {
        let (triggers, trigger) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        trigger.yield()
        let following = Task {
            await withTaskGroup(of: Void.self) { events in
                events.addTask { for await _ in connections { trigger.yield() } }
                events.addTask { for await _ in changes { trigger.yield() } }
                events.addTask { for await _ in others { trigger.yield() } }
            }
            trigger.finish()
        }
        trigger.onTermination = { _ in following.cancel() }
        return triggers.map { await read() }
    }
}

/// When the daemon was known to respond last, while this process runs. The store keeps only when something was
/// synchronized, which may be long before a quiet connection is lost.
final class LinkHistory: Sendable {
    private let state = Mutex((isConnected: false, lost: Date?.none))

    /// Notes a state of the connection, and returns when it was last a good one: not the present one, which may have
    /// been lost since it was good. Nil if it never was.
    func lastSeen(_ connection: StoreStatus.Connection, lastSync: Date?, at now: Date) -> Date? {
        let lost = state.withLock { state in
            if state.isConnected, connection != .connected { state.lost = now }
            state.isConnected = connection == .connected
            return state.lost
        }
        return [lastSync, lost].compactMap { $0 }.max()
    }
}
