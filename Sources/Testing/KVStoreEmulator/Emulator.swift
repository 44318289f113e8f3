// The server as an emulator for tests: worlds that tokens name, their clocks, faults, settings, decisions
// and records, with the administration over HTTP and its page. Not here: the request path and storage,
// which are the daemon's (KVStoreServer), and faults themselves (KVStoreSimulation).

package import Essentials
import KVStoreCore
import KVStoreWire
import KVStoreLedger
import KVStoreLog
public import KVStoreServer
import KVStoreSimulation
public import Logging
import NIOPosix

/// A sync service for tests: the daemon with all its resources, in memory, open to any token; on the loopback
/// interface, or on others under named hosts.
///
/// ```swift
/// try await Emulator.run { emulator in
///     let variables = emulator.environment(world: "settings", device: "phone")
///     let environment = StoreEnvironment(home: directory, variables: variables)
///     let phone = try UbiquitousKeyValueStore.open(environment: environment)
///     phone.set("dark", forKey: "theme")
///     print(try await phone.synchronizeNow().pendingKeyCount)       // 0
///     phone.close()
/// }
/// ```
///
/// A token `WORLD/DEVICE` names a world and a device in it. Worlds see nothing of each other, so each test has its own
/// in an emulator that all share. `/emulator/v1/` administers the worlds; `docs/emulator.md` describes it. No file is
/// created.
///
/// All methods may be called from any task.
public final class Emulator: Sendable {
    let server: StoreServer
    let interceptor: EmulatorInterceptor
    private let address: ListenAddress
    private let isStrict: Bool

    /// Listens only in ``run()``.
    ///
    /// - Parameters:
    ///   - address: any free port of the loopback interface by default. With another interface, every machine of its
    ///     network can use the emulator, so `hosts` must name this one.
    ///   - hosts: names and addresses under which clients reach the emulator, besides those of the loopback interface.
    ///     A
    ///     request whose `Host` is none of them is refused: a web page could have any name lead here.
    ///   - origins: of pages under test, such as `http://localhost:5173`, that use the emulator from a browser. Pages
    ///     of other
    ///     origins cannot.
    ///   - limits: of worlds, devices, memory, imports and events.
    ///   - logger: the default discards all messages.
    /// - Throws: for an address that other machines can reach if `hosts` is empty, and for a host that is not one.
    public convenience init(
        address: ListenAddress = .anyLoopbackPort, hosts: [String] = [], origins: [String] = [],
        limits: EmulatorLimits = EmulatorLimits(),
        logger: Logger = Logger(label: "emulator", factory: { _ in SwiftLogNoOpLogHandler() })
    ) throws(ServerError) {
        try self.init(
            address: address, hosts: hosts, origins: origins, limits: limits, logger: logger,
            isStrict: false, record: nil)
    }

    /// - Parameters:
    ///   - isStrict: whether all worlds refuse what Apple's service drops silently.
    ///   - seed: of everything random.
    ///   - record: is called with the lines of the record of the session, on one thread at a time.
    ///   - now: milliseconds since 1970.
    package init(
        address: ListenAddress = .anyLoopbackPort, hosts: [String] = [], origins: [String] = [],
        limits: EmulatorLimits = EmulatorLimits(),
        logger: Logger = Logger(label: "emulator", factory: { _ in SwiftLogNoOpLogHandler() }), isStrict: Bool = false,
        seed: UInt64 = .random(in: 0...0x1F_FFFF_FFFF_FFFF), record: (@Sendable (Data) -> Void)? = nil,
        isReplaying: Bool = false, now: @escaping @Sendable () -> Int64 = { ServerClock.wallMilliseconds() }
    ) throws(ServerError) {
        let (hosts, origins) = (try HostNames(hosts), try AllowedOrigins(origins))
        guard address.isLoopback || !hosts.isEmpty else {
            throw ServerError(
                .cannotListen, "an emulator accepts any token, so it does not listen on \(address) for every host",
                hint: "name the hosts under which clients reach it, or use 127.0.0.1")
        }
        var serverLimits = ServerLimits()
        serverLimits.memoryByteCount = limits.memoryByteCount
        serverLimits.segmentByteCount = Self.segmentByteCount
        // An import beside the syncs.
        serverLimits.pendingBodyByteCount += limits.importByteCount
        // A fault may hold a request for as long as a test takes.
        serverLimits.requestMilliseconds = 3_600_000
        // Wrong tokens come from tests of wrong tokens.
        serverLimits.failedAuthenticationsPerMinute = 1e9
        serverLimits.fit(openFileCount: OpenFileLimit.current)
        var options = LogEngine.Options()
        options.ledger.segmentByteCount = serverLimits.segmentByteCount
        options.ledger.memoryByteLimit = serverLimits.memoryByteCount
        options.ledger.removalCount = limits.removedStoreCount
        options.ledger.isolatesAccounts = false
        // A request is applied once, in its order in the record.
        options.ledger.defersSegments = false
        var random = SplitMix64(seed: seed)
        let replica = ReplicaID(rawValue: .random(in: 1 ... .max, using: &random))
        let clock = SessionClock(now)
        let emulation = Emulation(
            limits: limits, replica: replica, defaults: WorldSettings(isStrict: isStrict, seed: seed), clock: clock,
            recorder: record.map { EmulatorRecorder(RecordStart(seed: seed, strict: isStrict), clock, write: $0) },
            isReplaying: isReplaying)
        options.now = { clock.now() }
        options.accountClock = { emulation.time(of: $0) }
        let engine: LogEngine
        do throws(LogError) {
            engine = try LogEngine(
                storage: SimulatedDisk(seed: random.next()).storage(), options: options,
                seed: random.next(), logger: logger,
                // Requests have one order.
                loops: [MultiThreadedEventLoopGroup.singleton.next()])
        } catch {
            throw ServerError(error)
        }
        let devices = DeviceRegistry(
            instance: EpochID(rawValue: .random(in: 1 ... .max, using: &random)), logger: logger)
        interceptor = EmulatorInterceptor(
            emulation, engine: engine, devices: devices, hosts: hosts, origins: origins,
            limits: serverLimits, replica: replica)
        server = StoreServer(
            engine: EmulatorEngine(engine, interceptor), devices: devices,
            configuration: ServerConfiguration(address: address, limits: serverLimits, logger: logger),
            replica: replica, entry: interceptor, provider: interceptor)
        self.address = address
        self.isStrict = isStrict
    }

    /// Small, because a segment takes its whole size in memory twice.
    private static let segmentByteCount = 1_024 * 1_024

    /// Serves until ``stop()`` or the cancellation of the task. An emulator runs once.
    public func run() async throws(ServerError) { try await server.run() }

    /// Makes ``run()`` return, at once if it has not been called yet.
    public func stop() async { await server.stop() }

    /// The emulator once it listens; throws if ``run()`` ends before.
    public var running: RunningEmulator {
        get async throws(ServerError) {
            RunningEmulator(
                address: ListenAddress(host: address.localHost, port: try await server.port), isStrict: isStrict)
        }
    }

    /// Runs an emulator on a free port while `body` runs.
    ///
    /// - Returns: the result of `body`.
    /// - Throws: its error, or `ServerError` if the emulator cannot listen.
    public static func run<Value, Failure: Error>(
        limits: EmulatorLimits = EmulatorLimits(), isolation: isolated (any Actor)? = #isolation,
        _ body: (RunningEmulator) async throws(Failure) -> Value
    ) async throws -> Value {
        try await Emulator(limits: limits).run(body)
    }

    /// Runs while `body` runs, and ends.
    func run<Value, Failure: Error>(
        isolation: isolated (any Actor)? = #isolation, _ body: (RunningEmulator) async throws(Failure) -> Value
    ) async throws -> Value {
        async let serving: Void = run()
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(try await running))
        } catch {
            result = .failure(error)
        }
        await stop()
        try await serving
        return try result.get()
    }

    /// Whether a world or a device is named by this text in a token, unchanged.
    package static func isValidName(_ name: String) -> Bool { Device.isValidAccount(name) }

    /// Whether clients can name this host.
    package static func isValidHost(_ host: String) -> Bool { (try? HostNames([host])) != nil }

    /// Whether a browser can name this origin.
    package static func isValidOrigin(_ origin: String) -> Bool {
        (try? AllowedOrigins([origin])) != nil  // the question is whether it is valid
    }
}

/// An emulator that listens.
///
/// For an example see `Emulator`.
public struct RunningEmulator: Sendable, Hashable {
    let address: ListenAddress
    let isStrict: Bool

    /// For clients on this machine: `http://127.0.0.1:PORT`, unless it listens on another address.
    public var url: String { address.url() }

    /// For clients that reach it under one of its `hosts`.
    public func url(host: String) -> String {
        ListenAddress(host: HostNames.withoutBrackets(host), port: address.port).url()
    }

    /// Its administration: ``url`` with `/emulator/v1`.
    public var adminURL: String { url + "/emulator/v1" }

    /// Its page for a browser on this machine.
    public var pageURL: String { url + "/" }

    /// The variables with which the programs of this project become a device of a world: `UBIQUITY_DAEMON`,
    /// `UBIQUITY_TOKEN`, `UBIQUITY_EMULATOR`, and `UBIQUITY_STRICT` in strict mode. Names that a token cannot contain
    /// are replaced by ones that it can.
    public func environment(world: String = "default", device: String = "device") -> [String: String] {
        var variables = [
            "UBIQUITY_DAEMON": url, "UBIQUITY_TOKEN": "\(WorldToken.safeName(world))/\(WorldToken.safeName(device))",
            "UBIQUITY_EMULATOR": adminURL,
        ]
        if isStrict { variables["UBIQUITY_STRICT"] = "1" }
        return variables
    }
}
