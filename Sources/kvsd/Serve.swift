public import ArgumentParser
import CommandSupport
import Essentials
public import KVStoreServer
import LocalFiles
import Logging

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the daemon; the default command.",
        discussion: """
            Examples:

              kvsd serve
              kvsd serve --listen 127.0.0.1:9000 --data /srv/ubiquity
              kvsd serve --listen 127.0.0.1:0 --port-file /tmp/kvsd.port

            SIGTERM and SIGINT stop it: it ends live streams, answers the requests under way, closes \
            connections that are not done after 5 seconds, and exits with 0. If that takes 10 seconds, \
            for example because a disk hangs, it exits with 70; on a second signal it exits at once, \
            with 128 plus the signal's number. What was acknowledged is durable in any case.
            """)

    @Option(help: ArgumentHelp("Address and port; port 0 chooses one.", valueName: "host:port"))
    var listen = ListenAddress.standard

    @OptionGroup var data: DataOption

    @Option(
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical."),
        transform: { text in
            guard let level = Logger.Level(rawValue: text) else {
                throw ValidationError("invalid log level '\(text)'")
            }
            return level
        })
    var logLevel = Logger.Level.info

    @Flag(help: "Listen on other interfaces than loopback without TLS, exposing tokens and values.")
    var insecureAllowPlainHttp = false

    @Option(help: ArgumentHelp("Write the port into this file.", valueName: "file"))
    var portFile: String?

    @Option(help: ArgumentHelp("Limit on the memory of all keys and values.", valueName: "bytes"))
    var memoryLimit = ServerLimits().memoryByteCount

    @Option(
        help: ArgumentHelp(
            "Limit on the requests of a device; bursts are four times as large.",
            valueName: "count"))
    var requestsPerSecond = Int(ServerLimits().requestsPerSecond)

    @Option(help: ArgumentHelp("Limit on the live streams of a device.", valueName: "count"))
    var streamsPerDevice = ServerLimits().streamsPerDevice

    @Option(
        help: ArgumentHelp(
            "Limit on connections, lowered to what the limit on open files allows.",
            valueName: "count"))
    var connections = ServerLimits().connectionCount

    @Option(help: .hidden) var segmentBytes = ServerLimits().segmentByteCount
    @Option(help: .hidden) var heartbeatMilliseconds = ServerLimits().heartbeatMilliseconds

    func validate() throws {
        if !listen.isLoopback, !insecureAllowPlainHttp {
            throw ValidationError(
                """
                \(listen) is reachable from other machines, and kvsd speaks HTTP without TLS, which \
                exposes tokens and values. Listen on 127.0.0.1 behind a tunnel or a proxy that speaks \
                TLS, or add --insecure-allow-plain-http.
                """)
        }
        guard memoryLimit > 0, requestsPerSecond > 0, streamsPerDevice > 0, connections > 0,
            segmentBytes >= 4_096, heartbeatMilliseconds > 0
        else {
            throw ValidationError("limits must be positive")
        }
    }

    func run() async throws {
        let signals = EndSignals()
        var logger = Logger(label: "kvsd", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = logLevel
        var limits = ServerLimits()
        limits.heartbeatMilliseconds = heartbeatMilliseconds
        limits.segmentByteCount = segmentBytes
        limits.memoryByteCount = memoryLimit
        limits.requestsPerSecond = Double(requestsPerSecond)
        limits.requestBurst = 4 * limits.requestsPerSecond
        limits.streamsPerDevice = streamsPerDevice
        limits.connectionCount = connections
        limits.fit(openFileCount: OpenFileLimit.raise())
        let server = try StoreServer(
            ServerConfiguration(
                storage: .directory(data.directory.path), address: listen, limits: limits,
                logger: logger))
        async let _: Void = {
            await signals.wait()
            guard !Task.isCancelled else { return }
            ShutdownDeadline.arm()
            await server.stop()
        }()
        async let running: Void = server.run()
        announce(try await server.port, server, logger)
        try await running
        logger.info("stopped")
    }

    private func announce(_ port: Int, _ server: StoreServer, _ logger: Logger) {
        if let portFile {
            do throws(FileError) {
                try LocalFile(portFile).replace(with: Data("\(port)\n".utf8))
            } catch {
                logger.error("\(error)")
            }
        }
        let url = ListenAddress(host: listen.host, port: port).url
        Console.note("listening on \(url), data in \(data.directory.path)")
        guard server.deviceCount == 0 else { return }
        let option = data.data == nil ? "" : " --data \(data.directory.path)"
        let address = listen == .standard ? "" : " --url \(url)"
        Console.note(
            """
            There are no devices yet. In another terminal, run
              kvsd device add laptop\(option)\(address)
            and the command that it prints on that device.
            """)
    }
}

extension ListenAddress: ExpressibleByArgument {
    static let standard = ListenAddress(host: "127.0.0.1", port: 8722)

    public init?(argument: String) { self.init(argument) }
    public var defaultValueDescription: String { description }
}
