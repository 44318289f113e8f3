import ArgumentParser
import Foundation
import Hummingbird
import HummingbirdCore
import KVStore
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the daemon (what kvsd does without a command).",
        discussion: """
            Examples:

              kvsd serve
              kvsd serve --listen 127.0.0.1:9000 --data /srv/ubiquity
              kvsd serve --listen 127.0.0.1:0 --port-file /tmp/kvsd.port

            It stops on SIGTERM and SIGINT: requests under way are answered, everything is on disk.
            """)

    @Option(help: ArgumentHelp("Address and port; port 0 chooses one.", valueName: "host:port"))
    var listen = ListenAddress.standard

    @OptionGroup var data: DataOption

    @Option(
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical."),
        transform: { text in
            guard let level = Logger.Level(rawValue: text) else {
                throw ValidationError("'\(text)' is no log level")
            }
            return level
        })
    var logLevel = Logger.Level.info

    @Flag(
        help: ArgumentHelp(
            "Listen beyond this machine without TLS: tokens and values travel readable."))
    var insecureAllowPlainHttp = false

    @Option(help: ArgumentHelp("File to write the real port into.", valueName: "file"))
    var portFile: String?

    @Option(help: ArgumentHelp("Bytes of all values together.", valueName: "bytes"))
    var memoryLimit = 1 << 30

    @Option(help: .hidden) var segmentBytes = 16 * 1_024 * 1_024
    @Option(help: .hidden) var heartbeatMilliseconds: Int64 = 15_000

    func validate() throws {
        if !listen.isLoopback, !insecureAllowPlainHttp {
            throw ValidationError(
                """
                \(listen) can be reached from other machines, and kvsd speaks HTTP without TLS: \
                whoever listens on the way could read tokens and values. Listen on 127.0.0.1 behind \
                a proxy that speaks TLS or a tunnel, or add --insecure-allow-plain-http.
                """)
        }
        guard memoryLimit > 0, segmentBytes >= 4_096, heartbeatMilliseconds > 0 else {
            throw ValidationError("limits are positive numbers")
        }
    }

    func run() async throws {
        var logger = Logger(label: "kvsd", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = logLevel
        let directory = data.directory
        let keeper: StoreKeeper
        do throws(DataDirectoryError) {
            try directory.create()
            keeper = try openKeeper(directory, logger)
        } catch {
            throw Failure.exit(error)
        }
        let devices: DeviceDirectory
        do throws(DeviceFileError) {
            devices = try DeviceDirectory(directory.deviceFile, logger: logger)
        } catch {
            throw Failure.exit(error)
        }
        var limits = EdgeLimits()
        limits.heartbeatMilliseconds = heartbeatMilliseconds
        limits.fit(openFileCount: OpenFileLimit.raise())
        let daemon = Daemon(
            keeper: keeper, devices: devices, limits: limits,
            replica: ReplicaID(rawValue: UInt64.random(in: 1...UInt64.max)))
        do {
            try await serve(daemon, directory, logger)
        } catch let error as any CustomStringConvertible & Error {
            await keeper.close()
            throw Failure.exit("\(listen): \(error)", code: 69)
        }
        await keeper.close()
        logger.info("stopped")
    }

    private func openKeeper(
        _ directory: DataDirectory, _ logger: Logger
    ) throws(DataDirectoryError) -> StoreKeeper {
        let storage = try directory.lockedStorage()
        var options = StoreKeeper.Options()
        options.ledger.segmentByteCount = segmentBytes
        options.ledger.liveByteLimit = memoryLimit
        let keeper: StoreKeeper
        do throws(LogError) {
            keeper = try StoreKeeper(
                storage: storage, options: options, seed: UInt64.random(in: 0...UInt64.max),
                logger: logger)
        } catch {
            throw .log(error)
        }
        for cut in keeper.recovery.cutWrites {
            logger.warning(
                "\(cut.path), byte \(cut.offset): a write that never became whole has been cut (\(cut.detail)); replicas are asked to send again what is missing"
            )
        }
        return keeper
    }

    private func serve(
        _ daemon: Daemon, _ directory: DataDirectory, _ logger: Logger
    ) async throws {
        var quiet = logger
        if logLevel > .debug { quiet.logLevel = max(logLevel, .warning) }
        let app = DaemonApplication.make(
            daemon, address: .hostname(listen.host, port: listen.port), logger: quiet
        ) { port in
            announce(port, daemon, directory, logger)
        }
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: app)], gracefulShutdownSignals: [.sigterm, .sigint],
            logger: quiet)
        configuration.maximumGracefulShutdownDuration = .seconds(20)
        try await ServiceGroup(configuration: configuration).run()
    }

    @Sendable private func announce(
        _ port: Int, _ daemon: Daemon, _ directory: DataDirectory, _ logger: Logger
    ) {
        if let portFile {
            do throws(PrivateFile.Failure) {
                try PrivateFile.write(Data("\(port)\n".utf8), to: portFile)
            } catch {
                logger.error("\(error)")
            }
        }
        let url = listen.url(port: port)
        StandardError.write("listening on \(url), data in \(directory.path)")
        guard daemon.devices.table.devices.isEmpty else { return }
        let option = data.data == nil ? "" : " --data \(directory.path)"
        let address = listen == .standard ? "" : " --url \(url)"
        StandardError.write(
            """
            No device may talk to it yet. In another terminal:
              kvsd device add \(Self.exampleName)\(option)\(address)
            and on that device run the line it prints.
            """)
    }

    private static let exampleName = "laptop"
}
