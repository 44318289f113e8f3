public import ArgumentParser
import Foundation
public import KVStoreServer
import Logging
import ProgramSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the daemon (what kvsd does without a command).",
        discussion: """
            Examples:

              kvsd serve
              kvsd serve --listen 127.0.0.1:9000 --data /srv/ubiquity
              kvsd serve --listen 127.0.0.1:0 --port-file /tmp/kvsd.port

            SIGTERM and SIGINT stop it: it ends live streams, answers the requests under way and exits
            with 0, after 5 seconds without those that are not done. If that takes 10 seconds, for
            example because a disk hangs, it exits with 70; a second signal ends it at once, with 128
            and the signal's number. What was acknowledged is on disk in any case.
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
    var memoryLimit = ServerLimits().liveByteCount

    @Option(help: .hidden) var segmentBytes = ServerLimits().segmentByteCount
    @Option(help: .hidden) var heartbeatMilliseconds = ServerLimits().heartbeatMilliseconds

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
        let signals = EndSignals()
        var logger = Logger(label: "kvsd", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = logLevel
        var limits = ServerLimits()
        limits.heartbeatMilliseconds = heartbeatMilliseconds
        limits.segmentByteCount = segmentBytes
        limits.liveByteCount = memoryLimit
        limits.fit(openFileCount: OpenFileLimit.raise())
        let path = data.directory.path
        let server: StoreServer
        do {
            server = try StoreServer(
                ServerConfiguration(
                    storage: .directory(path), address: listen, limits: limits, logger: logger))
        } catch let error as DataDirectoryError {
            throw Failure.exit(error)
        } catch let error as DeviceFileError {
            throw Failure.exit(error)
        }
        do {
            async let _: Void = {
                await signals.wait()
                guard !Task.isCancelled else { return }
                HardEnd.arm()
                await server.stop()
            }()
            async let running: Void = server.run()
            announce(try await server.port, server, path, logger)
            try await running
        } catch {
            throw Failure.exit("\(listen): \(error)", code: 69)
        }
        logger.info("stopped")
    }

    private func announce(_ port: Int, _ server: StoreServer, _ path: String, _ logger: Logger) {
        if let portFile {
            do throws(PrivateFile.Failure) {
                try PrivateFile.write(Data("\(port)\n".utf8), to: portFile)
            } catch {
                logger.error("\(error)")
            }
        }
        let url = ListenAddress(host: listen.host, port: port).url
        StandardError.write("listening on \(url), data in \(path)")
        guard server.deviceCount == 0 else { return }
        let option = data.data == nil ? "" : " --data \(path)"
        let address = listen == .standard ? "" : " --url \(url)"
        StandardError.write(
            """
            No device may talk to it yet. In another terminal:
              kvsd device add laptop\(option)\(address)
            and on that device run the line it prints.
            """)
    }
}

extension ListenAddress: ExpressibleByArgument {
    static let standard = ListenAddress(host: "127.0.0.1", port: 8722)

    public init?(argument: String) { self.init(argument) }
    public var defaultValueDescription: String { description }
}
