// The daemon as a library: connections and the request path on event loops, group commit, accounts,
// pairing, certificates and backup. Not here: commands (kvsd), and anything for tests, which
// stands before the entry of requests and the engine.

import Dispatch
import Essentials
package import KVStoreCore
import KVStoreLedger
package import KVStoreWire
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A server of key-value stores: what `kvsd` runs, and what a test starts in its own process.
///
/// ```swift
/// let server = try StoreServer()      // in a temporary directory, on any free port
/// async let running: Void = server.run()
/// let token = try server.addDevice("laptop")
/// try await test("http://127.0.0.1:\(server.port)", token)
/// await server.stop()
/// try await running
/// ```
///
/// All methods may be called from any task.
public final class StoreServer: Sendable {
    let engine: any StorageEngine
    let devices: any DeviceDirectory
    let configuration: ServerConfiguration
    /// Requests by device.
    let requestRates: RateLimiter
    /// Failed authentications by address.
    let failureRates: RateLimiter
    /// The replica id in the stamps of the server's own writes.
    let replica: ReplicaID
    /// One for each event loop.
    let tables: [ConnectionTable]
    /// Nil without TLS.
    let certificate: ServerCertificate?
    /// Nil where devices are in memory only, as is everything that files hold.
    let pairings: PairingRegistry?
    let entry: any RequestEntry
    /// Provides resources that this library does not have.
    let provider: (any ResourceProvider)?
    /// Changes of devices and pairings for connections, one at a time: they block.
    let fileQueue = DispatchQueue(label: "ubiquity.files")
    /// Large bodies in JSON, one at a time: decoding takes many times the memory that a body is counted with.
    let decodingQueue = DispatchQueue(label: "ubiquity.decoding")
    private let temporaryStorage: TemporaryStorage?
    private let listening: EventLoopPromise<Int>
    private let stopping: EventLoopPromise<Void>
    private struct Lifecycle {
        var hasRun = false
        var isStopped = false
        /// The Unix domain socket that the server listens on.
        var socketPath: String?
    }

    private let lifecycle = Mutex(Lifecycle())

    var limits: ServerLimits { configuration.limits }
    var metrics: Metrics { engine.metrics }

    /// Opens the stores and devices, and locks the data directory against other servers. Blocks
    /// while the log is read. Listens only in ``run()``.
    public convenience init(_ configuration: ServerConfiguration = ServerConfiguration()) throws(ServerError) {
        try self.init(configuration, provider: nil)
    }

    /// - Parameters:
    ///   - engine: what keeps the stores; nil for the log in the data directory.
    ///   - devices: nil for those of the data directory.
    ///   - provider: of further resources.
    package convenience init(
        _ configuration: ServerConfiguration, engine: (any StorageEngine)? = nil,
        devices: (any DeviceDirectory)? = nil, provider: (any ResourceProvider)?
    ) throws(ServerError) {
        var temporary: TemporaryStorage?
        let directory: DataDirectory
        switch configuration.storage {
        case .directory(let path): directory = DataDirectory(path)
        case .temporary:
            let created = TemporaryStorage()
            temporary = created
            directory = DataDirectory(created.path)
        }
        try directory.create()
        var options = LogEngine.Options()
        options.ledger.segmentByteCount = configuration.limits.segmentByteCount
        options.ledger.memoryByteLimit = configuration.limits.memoryByteCount
        let logger = configuration.logger
        let own: any StorageEngine =
            if let engine { engine } else { try directory.openEngine(options, logger: logger) }
        let known: any DeviceDirectory =
            if let devices { devices } else {
                try DeviceRegistry(directory.deviceFile, logger: logger)
            }
        self.init(
            engine: own, devices: known,
            certificate: try ServerCertificate(configuration.encryption, directory: directory.path, logger: logger),
            configuration: configuration, temporaryStorage: temporary, provider: provider)
    }

    /// - Parameter certificate: nil without TLS.
    package init(
        engine: any StorageEngine, devices: any DeviceDirectory, certificate: ServerCertificate? = nil,
        configuration: ServerConfiguration, replica: ReplicaID = ReplicaID(rawValue: .random(in: 1 ... .max)),
        temporaryStorage: TemporaryStorage? = nil, entry: (any RequestEntry)? = nil,
        provider: (any ResourceProvider)? = nil
    ) {
        let limits = configuration.limits
        self.engine = engine
        self.devices = devices
        self.configuration = configuration
        self.replica = replica
        self.temporaryStorage = temporaryStorage
        self.entry = entry ?? DirectEntry()
        self.provider = provider
        requestRates = RateLimiter(
            perSecond: limits.requestsPerSecond, burst: limits.requestBurst, limit: devices.countLimit)
        failureRates = RateLimiter(
            perSecond: limits.failedAuthenticationsPerMinute / 60,
            burst: limits.failedAuthenticationsPerMinute, limit: limits.addressCount)
        let counts = ConnectionCounts()
        tables = engine.loops.map {
            ConnectionTable(limits, engine: engine, watchers: $0, counts: counts)
        }
        listening = engine.loops[0].loop.makePromise()
        stopping = engine.loops[0].loop.makePromise()
        self.certificate = certificate
        pairings = devices.storage.map {
            PairingRegistry($0, logger: configuration.logger, now: engine.clock)
        }
        let remover = devices.storage.map {
            AccountRemover(engine, devices, $0, logger: configuration.logger)
        }
        // The live streams of a removed device end at once.
        devices.observe(updating: engine.accounts) { [engine] in
            for watchers in engine.loops { watchers.loop.execute { watchers.wakeAll() } }
            remover?.start()
        }
        // Resumes what a former server began.
        remover?.start()
    }

    deinit {
        listening.fail(ServerError.ended)
        stopping.succeed()
    }

    /// Serves until ``stop()`` or the cancellation of the task; then closes the stores. A server runs once.
    ///
    /// Stopping ends live streams, answers the requests under way and closes the remaining connections
    /// after ``ServerLimits/stopMilliseconds``. It waits for the disk without a limit.
    public func run() async throws(ServerError) {
        let former = lifecycle.withLock { lifecycle in
            defer { lifecycle.hasRun = true }
            return lifecycle
        }
        if former.hasRun { throw .ended }
        var failure: ServerError?
        if !former.isStopped {
            do {
                let listener = try await listener(isEncrypted: isEncrypted)
                    .bind(host: configuration.address.host, port: configuration.address.port).get()
                let socket = await listenOnSocket()
                let port = listener.localAddress?.port ?? 0
                let reports = await listenForReports(port: port)
                listening.succeed(port)
                await withTaskCancellationHandler {
                    // Only ever succeeds.
                    try? await stopping.futureResult.get()
                } onCancel: { [stopping] in
                    stopping.succeed()
                }
                try? await listener.close()  // it fails only if it is closed already
                try? await socket?.close()  // as above
                try? await reports?.close()  // as above
                try await engine.loops[0].loop.submit { [entry] in entry.stop() }.get()
                for stopped in tables.map({ $0.watchers.loop.flatSubmit($0.stop) }) {
                    try? await stopped.get()  // only ever succeeds
                }
            } catch {
                failure = .cannotListen(on: configuration.address, error)
            }
        }
        listening.fail(failure ?? .ended)
        await devices.close()
        await engine.close()
        if let failure { throw failure }
    }

    /// Offers the report to `kvsd status`; nil if that failed. Serving does not depend on it.
    private func listenForReports(port: Int) async -> (any Channel)? {
        guard case .directory(let path) = configuration.storage else { return nil }
        let started = engine.clock()
        do {
            return try await DataDirectory(path).reportSocket.listen { [self] complete in
                report(port: port, started: started, complete)
            }
        } catch {
            configuration.logger.warning("kvsd status will not find this daemon: \(error)")
            return nil
        }
    }

    /// Listens on the socket of the data directory, which only the user of the server can open; nil if that failed.
    /// Serving does not depend on it.
    private func listenOnSocket() async -> (any Channel)? {
        guard case .directory(let path) = configuration.storage else { return nil }
        let socketPath = DataDirectory(path).socketPath
        do {
            let channel = try await listener(isEncrypted: false).bind(privateSocket: socketPath)
            lifecycle.withLock { $0.socketPath = socketPath }
            return channel
        } catch {
            configuration.logger.warning(
                "cannot listen on \(socketPath), so local programs must use the port: \(error)"
            )
            return nil
        }
    }

    private func listener(isEncrypted: Bool) -> ServerBootstrap {
        var limit = NIOHTTPDecoderLimitConfiguration()
        limit.maxHeaderFieldSize = limits.headerByteCount
        limit.maxHeaderListSize = limits.headerByteCount
        limit.maxHeaderFieldCount = limits.headerCount
        return ServerBootstrap(
            group: engine.loops.count == 1
                ? engine.loops[0].loop : MultiThreadedEventLoopGroup.singleton
        )
        .serverChannelOption(.backlog, value: 1_024)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.allowRemoteHalfClosure, value: true)
        // What is parsed in one step, and waits for the answers before it, is bounded.
        .childChannelOption(.maxMessagesPerRead, value: 1)
        // Each connection keeps its last buffer, as long as it is open.
        .childChannelOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1_024, initial: 1_024, maximum: 16_384)
        )
        // What the system keeps for a peer that does not read is memory too, and progress shows in steps of a third.
        .childChannelOption(.socketOption(.so_sndbuf), value: 131_072)
        // Writable again only when the peer has read everything.
        .childChannelOption(
            .writeBufferWaterMark, value: ChannelOptions.Types.WriteBufferWaterMark(low: 1, high: 16_384)
        )
        .childChannelInitializer { [limit] channel in
            channel.eventLoop.makeCompletedFuture {
                let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limit)
                let table = self.tables.first { $0.watchers.loop === channel.eventLoop }
                guard let table else { throw ChannelError.inappropriateOperationForState }
                if isEncrypted, let certificate = self.certificate {
                    try channel.pipeline.syncOperations.addHandlers(certificate.handlers(table))
                }
                try channel.pipeline.syncOperations.addHandlers(
                    // The decoder leaves what follows a request for another protocol unread.
                    ByteToMessageHandler(decoder, maximumBufferSize: limit.maxHeaderListSize),
                    Connection(self, table))
            }
        }
    }

    /// Shuts down gracefully: makes ``run()`` return, at once if it has not been called yet.
    public func stop() async {
        lifecycle.withLock { $0.isStopped = true }
        stopping.succeed()
    }

    /// Looks at the files of certificate and devices now, instead of with the next connection and request. Blocks.
    public func reload() {
        _ = certificate?.context()
        devices.refresh()
    }

    /// The port that the server listens on. Waits until it does; throws if ``run()`` ends before.
    public var port: Int {
        get async throws(ServerError) {
            do { return try await listening.futureResult.get() } catch {
                throw error as? ServerError ?? .ended
            }
        }
    }

    /// Adds a device and returns its token, which cannot be read again. Blocks until it is durable.
    ///
    /// - Parameters:
    ///   - name: unique within the account; one line of at most 64 bytes.
    ///   - account: the account whose stores the device sees; added if it does not exist.
    ///   - isReadOnly: whether the server refuses writes of the device.
    ///   - stores: the only stores that the device sees; nil for all of its account.
    @discardableResult
    public func addDevice(
        _ name: String, account: String = "default", isReadOnly: Bool = false, stores: [String]? = nil
    ) throws(ServerError) -> String {
        guard let storage = devices.storage else {
            throw .invalidDevice("the devices of this server are in memory only")
        }
        if try storage.table(.account(account)).presentAccounts[account] == nil {
            try storage.addAccount(account)
        }
        return try storage.add(name, DevicePermissions(account: account, isReadOnly: isReadOnly, stores: stores)).token
    }

    /// Whether connections are encrypted.
    public var isEncrypted: Bool { certificate != nil }

    /// How commands on this machine reach the server and join it; nil for one that needs no joining.
    package func status(processID: Int32, port: Int) -> DaemonStatus? {
        guard let pairings else { return nil }
        return DaemonStatus(
            processID: processID, host: configuration.address.host, port: port,
            socket: lifecycle.withLock { $0.socketPath }, certificate: certificate?.path,
            key: certificate?.keyFingerprint, code: pairings.localCode)
    }

    /// Whether any has been added. Blocks.
    package var hasDevices: Bool {
        // Without an answer, the next step is to pair a device.
        devices.count > 0 || (try? devices.storage?.hasDevices) ?? false
    }
}

extension ServerError {
    static let ended = ServerError(.ended, "the server has ended")
}
