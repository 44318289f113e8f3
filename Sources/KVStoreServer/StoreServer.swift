import Foundation
import KVStore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// A server of key-value stores: what `kvsd` runs, and what a test starts in its own process.
///
///     let server = try StoreServer(ServerConfiguration(storage: .temporary))
///     async let running: Void = server.run()
///     let token = try server.addDevice("laptop")
///     let url = "http://127.0.0.1:\(try await server.port)"
///     // … join with the token …
///     await server.stop()
///     try await running
///
/// All methods may be called from any task.
public final class StoreServer: Sendable {
    let keeper: StoreKeeper
    let devices: DeviceDirectory
    let limits: ServerLimits
    let rates: RequestRates
    let metrics = Metrics()
    let connections = ConnectionTable()
    /// The replica ID in the stamps of writes that the server makes itself.
    let replica: ReplicaID
    private let address: ListenAddress
    private let logger: Logger
    private let temporaryDirectory: TemporaryDirectory?
    private let listening: EventLoopPromise<Int>
    private let lifecycle = Mutex(Lifecycle.idle)

    private enum Lifecycle {
        case idle
        case stopRequested
        case running(ServiceGroup)
        case ended
    }

    /// Opens the stores and devices and takes the data directory's lock, which other processes and
    /// servers then cannot. Blocks while the log is read. Listens only in ``run()``.
    public convenience init(_ configuration: ServerConfiguration = ServerConfiguration()) throws {
        var temporary: TemporaryDirectory?
        let directory: DataDirectory
        switch configuration.storage {
        case .directory(let path):
            directory = DataDirectory(path)
            try directory.create()
        case .temporary:
            let created = try TemporaryDirectory()
            temporary = created
            directory = DataDirectory(created.path)
        }
        var options = StoreKeeper.Options()
        options.ledger.segmentByteCount = configuration.limits.segmentByteCount
        options.ledger.liveByteLimit = configuration.limits.liveByteCount
        try self.init(
            keeper: directory.openKeeper(options, logger: configuration.logger),
            devices: DeviceDirectory(directory.deviceFile, logger: configuration.logger),
            limits: configuration.limits, address: configuration.address,
            logger: configuration.logger, temporaryDirectory: temporary)
    }

    init(
        keeper: StoreKeeper, devices: DeviceDirectory, limits: ServerLimits,
        address: ListenAddress = .anyLoopbackPort,
        replica: ReplicaID = ReplicaID(rawValue: .random(in: 1...UInt64.max)), logger: Logger,
        temporaryDirectory: TemporaryDirectory? = nil
    ) {
        self.keeper = keeper
        self.devices = devices
        self.limits = limits
        self.address = address
        self.replica = replica
        self.logger = logger
        self.temporaryDirectory = temporaryDirectory
        rates = RequestRates(limits)
        listening = MultiThreadedEventLoopGroup.singleton.any().makePromise()
        // The streams of a removed device end at once.
        devices.follow(by: { WatchedDirectory.watch($0, changed: $1) }) {
            [watchers = keeper.watchers] in watchers.wakeAll()
        }
    }

    deinit { listening.fail(NotRunning()) }

    /// The server ended before it listened.
    struct NotRunning: Error {}

    /// Serves until ``stop()`` is called, the task is cancelled or the service group that runs it
    /// shuts down; then closes the stores. A server runs once.
    ///
    /// - Throws: when the address cannot be listened on.
    public func run() async throws {
        var quiet = logger
        if logger.logLevel > .debug { quiet.logLevel = max(logger.logLevel, .warning) }
        let application = application(address: address, logger: quiet) { [listening] in
            listening.succeed($0)
        }
        let group = ServiceGroup(configuration: .init(services: [application], logger: quiet))
        let former = lifecycle.withLock { lifecycle in
            let former = lifecycle
            switch former {
            case .idle, .stopRequested: lifecycle = .running(group)
            case .running, .ended: break
            }
            return former
        }
        var failure: (any Error)?
        switch former {
        case .running, .ended: throw NotRunning()
        case .stopRequested: break
        case .idle: do { try await group.run() } catch { failure = error }
        }
        lifecycle.withLock { $0 = .ended }
        listening.fail(failure ?? NotRunning())
        await keeper.close()
        if let failure { throw failure }
    }

    /// Lets ``run()`` return: accepts no more connections, ends live streams and answers the
    /// requests under way.
    public func stop() async {
        let group: ServiceGroup? = lifecycle.withLock { lifecycle in
            if case .running(let group) = lifecycle { return group }
            if case .idle = lifecycle { lifecycle = .stopRequested }
            return nil
        }
        await group?.triggerGracefulShutdown()
    }

    /// The port that the server listens on. Waits until it does.
    ///
    /// - Throws: when ``run()`` has ended or failed.
    public var port: Int { get async throws { try await listening.futureResult.get() } }

    /// Adds a device and returns its token, which nothing else reveals. Blocks for a disk write.
    ///
    /// - Parameters:
    ///   - name: unique within the account; one line of at most 64 bytes.
    ///   - account: whose stores the device sees.
    ///   - isReadOnly: refuses writes of the device.
    ///   - stores: the only stores that the device sees; nil for all of its account.
    @discardableResult
    public func addDevice(
        _ name: String, account: String = "default", isReadOnly: Bool = false,
        stores: [String]? = nil
    ) throws -> String {
        try devices.file.add(name, account: account, isReadOnly: isReadOnly, stores: stores).token
    }

    /// The number of devices that may use the server.
    public var deviceCount: Int { devices.table.devices.count }
}
