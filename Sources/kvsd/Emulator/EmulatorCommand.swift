import ArgumentParser
import Commands
import Essentials
import KVStoreEmulator
import KVStoreServer
import KVStoreWire
import LocalFiles
import Logging

struct EmulatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulator",
        abstract: "Run a daemon for tests: in memory, open to any token.",
        discussion: """
            A token WORLD/DEVICE names a world of its own and a device in it. Nothing is kept when the \
            emulator stops, unless it exports a world.

              kvsd emulator
              UBIQUITY_DAEMON=emulator UBIQUITY_TOKEN=default/phone kvs set color green
              UBIQUITY_DAEMON=emulator UBIQUITY_TOKEN=default/desk kvs get color

              kvsd emulator exec --import fixture.json -- make test

            A container or a phone reaches it under the names that it is given:

              kvsd emulator --listen 0.0.0.0 --host host.docker.internal --host 192.168.1.7

            docs/emulator.md describes its administration over HTTP.
            """,
        subcommands: [Start.self, Exec.self, Replay.self], defaultSubcommand: Start.self)
}

/// How an emulator is reached and recorded, and the world that it starts with and exports at the end.
struct WorldOptions: ParsableArguments {
    @Option(
        name: .customLong("import"),
        help: ArgumentHelp("Start with the values of this exported document.", valueName: "file"), completion: .file())
    var importFile: String?

    @Option(
        help: ArgumentHelp("When the emulator stops, write the values into this file.", valueName: "file"),
        completion: .file())
    var exportOnExit: String?

    @Option(
        help: ArgumentHelp("Write a record of the session, which kvsd emulator replay repeats.", valueName: "file"),
        completion: .file())
    var record: String?

    @Option(help: ArgumentHelp("Listen on this address.", valueName: "address"))
    var listen = "127.0.0.1"

    @Option(
        name: .customLong("host"),
        help: ArgumentHelp(
            "A name or an address under which clients reach it beyond loopback; repeat it for others.",
            valueName: "name"))
    var hosts: [String] = []

    @Option(
        name: .customLong("allow-origin"),
        help: ArgumentHelp(
            "Let pages of this origin use the emulator from a browser; repeat it for others.", valueName: "origin"))
    var origins: [String] = []

    @Flag(help: "Refuse, with an error, writes that Apple's service drops silently.")
    var strict = false

    @Option(help: ArgumentHelp("The world that is imported and exported.", valueName: "name"))
    var world = "default"

    func validate() throws {
        guard Emulator.isValidName(world) else {
            throw ValidationError(
                "invalid world '\(world)': use 1 to 64 characters of A-Z a-z 0-9 . _ - and no leading dot"
            )
        }
        guard address(port: 0).isLoopback || !hosts.isEmpty else {
            throw ValidationError(
                "--listen \(listen) needs --host NAME for each name or address under which clients reach it"
            )
        }
        if let host = hosts.first(where: { !Emulator.isValidHost($0) }) {
            throw ValidationError("invalid host '\(host)': use a name or an address without scheme and port")
        }
        if let origin = origins.first(where: { !Emulator.isValidOrigin($0) }) {
            throw ValidationError("invalid origin '\(origin)': use one such as http://localhost:5173, without a path")
        }
    }

    func address(port: UInt16) -> ListenAddress { ListenAddress(host: listen, port: Int(port)) }

    func emulator(port: UInt16 = 0, logger: Logger? = nil) throws -> (Emulator, SessionRecord?) {
        let session = try record.map(SessionRecord.init)
        var write: (@Sendable (Data) -> Void)?
        if let session { write = { session.write($0) } }
        let emulator = try Emulator(
            address: address(port: port), hosts: hosts, origins: origins,
            logger: logger ?? Logger(label: "kvsd", factory: { _ in SwiftLogNoOpLogHandler() }),
            isStrict: strict, record: write)
        return (emulator, session)
    }

    func load(into emulator: Emulator) async throws {
        guard let importFile else { return }
        let content: LocalFile.Content?
        do throws(FileError) {
            content = try LocalFile(importFile).read(byteLimit: EmulatorLimits().importByteCount)
        } catch {
            throw CommandFailure(.noInput, error.description)
        }
        guard let content else { throw CommandFailure(.noInput, "cannot import \(importFile): no such file") }
        do throws(ServerError) {
            try await emulator.importWorld(world, from: content.data)
        } catch {
            throw CommandFailure(.dataError, "cannot import \(importFile): \(error.message)")
        }
    }

    func save(from emulator: Emulator) throws {
        guard let exportOnExit else { return }
        do throws(FileError) {
            try LocalFile(exportOnExit).save(emulator.export(world), permissions: 0o644)
        } catch {
            throw CommandFailure(.cannotCreate, error.description)
        }
    }
}

extension EmulatorCommand {
    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "start",
            abstract: "Run until SIGINT, SIGTERM or SIGHUP; the default command.",
            discussion: """
                Writes its URL into emulator.json in the data directory of the user, where \
                UBIQUITY_DAEMON=emulator finds it, and removes it at the end. A second SIGINT or SIGTERM ends it \
                at once, without an export.
                """)

        @Option(help: "The port; 0 for any free one.") var port: UInt16 = 8_723

        @Option(help: ArgumentHelp("Write the port into this file.", valueName: "file"))
        var portFile: String?

        @OptionGroup var worlds: WorldOptions

        func run() async throws {
            _ = OpenFileLimit.raise()
            let signals = EndSignals(includingHangUp: true)
            let (emulator, record) = try worlds.emulator(
                port: port, logger: Logger(label: "kvsd", factory: { StreamLogHandler.standardError(label: $0) }))
            try await worlds.load(into: emulator)
            async let _: Void = {
                await signals.wait()
                guard !Task.isCancelled else { return }
                ShutdownDeadline.arm()
                await emulator.stop()
            }()
            async let serving: Void = emulator.run()
            let running: RunningEmulator
            do throws(ServerError) { running = try await emulator.running } catch {
                throw failure(error)
            }
            try announce(running)
            defer { EmulatorStatusFile().remove(running.url) }
            try await serving
            try worlds.save(from: emulator)
            try record?.checkCompleteness()
        }

        private func failure(_ error: ServerError) -> any ReportableError {
            guard error.code == .cannotListen else { return error }
            let url = worlds.address(port: port).url()
            let next =
                EmulatorStatusFile().running.first { $0.url == url }.map {
                    "stop the emulator that listens there (process \($0.processID)), or choose another port"
                } ?? error.hint ?? "choose another port"
            return CommandFailure(.unavailable, "\(error.message); \(next): --port 0 is any free one")
        }

        /// The hosts beyond loopback.
        private func names(_ emulator: RunningEmulator) -> String {
            worlds.hosts.isEmpty
                ? ""
                : "\nFor clients elsewhere: " + worlds.hosts.map { emulator.url(host: $0) }.joined(separator: " ")
        }

        private func announce(_ emulator: RunningEmulator) throws {
            if let portFile {
                do throws(FileError) {
                    let port = emulator.url.split(separator: ":").last ?? ""
                    try LocalFile(portFile).save(Data("\(port)\n".utf8))
                } catch {
                    throw CommandFailure(.cannotCreate, error.description)
                }
            }
            do throws(FileError) {
                try EmulatorStatusFile().add(EmulatorStatus(processID: getpid(), url: emulator.url))
            } catch {
                Console.report("UBIQUITY_DAEMON=emulator will not find this emulator: \(error)")
            }
            let variables = emulator.environment(world: worlds.world).sorted { $0.key < $1.key }
            Console.note(
                """
                emulator listening on \(emulator.url), in memory; page: \(emulator.pageURL)\(names(emulator))
                For a device, in another terminal:
                  export \(variables.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
                """)
        }
    }
}

/// emulator.json in the user's data directory, with mode 0600.
struct EmulatorStatusFile {
    private let file = LocalFile(UserDirectories().data + "/" + EmulatorStatus.fileName)

    /// The emulators of the file that still run, the one that was started last first.
    var running: [EmulatorStatus] {
        let content = try? file.read(byteLimit: EmulatorStatus.byteCount)  // an unreadable file names no emulator
        // An unreadable file names no emulator.
        let status = content.flatMap { try? WireJSON.decode(EmulatorStatus.self, from: $0.data) }
        return status?.running ?? []
    }

    /// Adds an emulator that was started last.
    func add(_ status: EmulatorStatus) throws(FileError) {
        try file.directory.create()
        try write([status] + running.filter { $0.url != status.url })
    }

    /// Removes an emulator of this process, and the file with the last one.
    func remove(_ url: String) {
        let running = running
        let others = running.filter { $0.processID != getpid() || $0.url != url }
        guard others.count < running.count else { return }
        if others.isEmpty {
            try? file.remove(durability: .cached)  // whoever reads it checks the process
        } else {
            try? write(others)  // whoever reads it checks the process
        }
    }

    private func write(_ running: [EmulatorStatus]) throws(FileError) {
        guard let status = EmulatorStatus(running) else { return }
        try file.replace(with: WireJSON.encode(status) + Data("\n".utf8), durability: .cached)
    }
}
