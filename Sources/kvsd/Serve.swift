public import ArgumentParser
import Commands
import Essentials
public import KVStoreServer
import LocalFiles
import Logging
import OutgoingHTTP
import UsageServer

#if PostgreSQL
    import KVStorePostgreSQL
#endif

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the daemon; the default command.",
        discussion: """
            Examples:

              kvsd serve
              kvsd serve --listen 0.0.0.0
              kvsd serve --listen 127.0.0.1:9000 --data /srv/ubiquity
              kvsd serve --listen 0.0.0.0 --tls-certificate fullchain.pem --tls-key privkey.pem

            'kvsd config' shows every setting; they can also be set in the environment and in a file.

            Beyond loopback it speaks TLS, with a key and a self-signed certificate that it makes at the \
            first start; 'kvsd pair' gives devices the fingerprint of the key. Files of your own are read \
            again when they change.

            SIGTERM and SIGINT stop it: it ends live streams, answers the requests under way, closes \
            connections that are not done after 5 seconds, and exits with 0. If that takes 10 seconds, \
            for example because a disk hangs, it exits with 70; on a second signal it exits at once, \
            with 128 plus the signal's number. What was acknowledged is durable in any case.

            SIGHUP makes it look at its certificate and devices at once, which it otherwise does with \
            the next connection and request. Other changes need a restart.
            """)

    @OptionGroup var options: SettingOptions
    @OptionGroup var storage: StorageOption

    @Option(help: ArgumentHelp("Write the port into this file.", valueName: "file"))
    var portFile: String?

    private var data: DataOption { storage.data }

    func run() async throws {
        let signals = EndSignals()
        try data.directory.finishRestore()
        let settings = try options.effective(storage)
        if try settings.database(of: data.directory) == nil, !data.directory.hasLog {
            Console.note("no data in \(data.directory.path) yet: starting with an empty server")
        }
        let values = settings.values
        var logger = Logger(label: "kvsd", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = values.logLevel
        var limits = values.limits
        let openFileCount = OpenFileLimit.raise()
        limits.fit(openFileCount: openFileCount)
        if limits.connectionCount < values.limits.connectionCount {
            logger.warning(
                "the limit of \(openFileCount) open files leaves \(limits.connectionCount) connections; raise it (ulimit -n)"
            )
        }
        let notifications = NotificationService(
            dataDirectory: data.directory.path, contact: values.pushContact,
            http: HTTPDelivery(
                privateHosts: values.pushPrivateHosts.split(separator: ",").map { String($0) },
                permission: "kvsd serve --set push-private-hosts="), logger: logger)
        let nodeLock = values.database.isEmpty ? nil : try data.directory.lockNode()
        defer { withExtendedLifetime(nodeLock) {} }
        let database = try self.database(values, logger)
        let server = try StoreServer(
            ServerConfiguration(
                storage: .directory(data.directory.path), address: values.listen,
                encryption: settings.encryption, limits: limits, logger: logger),
            engine: database?.engine, devices: database?.devices,
            provider: UsageResources(notifications))
        let reloads = SignalArrivals.numbers(of: [SIGHUP])
        async let _: Void = { [logger] in
            for await _ in reloads {
                logger.notice("SIGHUP: reading the certificate and devices again")
                server.reload()
            }
        }()
        async let _: Void = {
            await signals.wait()
            guard !Task.isCancelled else { return }
            ShutdownDeadline.arm()
            await server.stop()
        }()
        async let _: Void = notifications.run(on: server)
        async let running: Void = server.run()
        announce(
            try await server.port, values.listen.host,
            database: database == nil ? nil : values.database, server, logger)
        defer { data.directory.statusFile.remove() }
        try await running
        logger.info("stopped")
    }

    /// Nil for the log and devices of the data directory.
    private func database(
        _ settings: ServeSettings, _ logger: Logger
    ) throws -> (engine: any StorageEngine, devices: any DeviceDirectory)? {
        guard !settings.database.isEmpty else { return nil }
        #if PostgreSQL
            var options = DatabaseEngine.Options()
            options.connectionCount = settings.databaseConnectionCount
            options.cacheByteCount = settings.limits.memoryByteCount
            options.url = settings.listen.description
            let database = Database(settings.database)
            let engine = try DatabaseEngine(database, options: options, logger: logger)
            let devices = DatabaseDevices(try DeviceDatabase(database), node: engine.node, logger: logger)
            engine.observeDevices { [weak devices] in devices?.markChanged(ofAccount: $0) }
            return (engine, devices)
        #else
            throw CommandFailure.withoutDatabase
        #endif
    }

    private func announce(_ port: Int, _ host: String, database: String?, _ server: StoreServer, _ logger: Logger) {
        if let portFile {
            do throws(FileError) {
                try LocalFile(portFile).save(Data("\(port)\n".utf8))
            } catch {
                logger.error("\(error)")
            }
        }
        do throws(ServerError) {
            if let status = server.status(processID: getpid(), port: port) {
                try data.directory.statusFile.write(status)
            }
        } catch {
            logger.error("kvsd pair will not find this daemon: \(error)")
        }
        let url = ListenAddress(host: host, port: port).url(isEncrypted: server.isEncrypted)
        let place = database.map { "the database \($0.withoutPassword)" }
        Console.note("listening on \(url), data in \(place ?? data.directory.path)")
        guard !server.hasDevices else { return }
        let option =
            (data.data == nil ? "" : " --data \(data.directory.path)")
            + (storage.database == nil ? "" : " --database ADDRESS")
        Console.note(
            """
            There are no devices yet. In another terminal, run
              kvsd pair\(option)
            and on the device, kvs join with the line that it prints.
            """)
    }
}

extension ListenAddress: ExpressibleByArgument {
    static let standard = ListenAddress(host: "127.0.0.1", port: 8722)

    /// The port may be missing.
    public init?(argument: String) {
        let host = argument.contains(":") && !argument.hasPrefix("[") ? "[\(argument)]" : argument
        guard let address = Self(argument) ?? Self("\(host):\(Self.standard.port)") else { return nil }
        self = address
    }
    public var defaultValueDescription: String { description }
}
