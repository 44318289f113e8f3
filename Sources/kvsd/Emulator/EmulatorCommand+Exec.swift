import ArgumentParser
import Commands
import Dispatch
import Essentials
import KVStoreEmulator
import KVStoreServer

extension EmulatorCommand {
    struct Exec: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "exec",
            abstract: "Run a command with an emulator of its own.",
            discussion: """
                The emulator listens on a free port until the command ends. The command's environment has \
                UBIQUITY_DAEMON, UBIQUITY_TOKEN (WORLD/device), UBIQUITY_EMULATOR (the URL of the \
                administration), and UBIQUITY_DATA_DIR and UBIQUITY_CONFIG_DIR in a temporary directory that \
                is removed afterwards. For another device, the command sets UBIQUITY_TOKEN itself. Signals \
                are passed on to it.

                Exits with the command's status, or 128 plus the number of the signal that ended it; with \
                126 or 127 if it cannot be run or found; with 74 if it succeeds and the record ends early.

                  kvsd emulator exec -- swift test
                  kvsd emulator exec --import before.json --export-on-exit after.json -- ./scenario
                """)

        @OptionGroup var worlds: WorldOptions

        @Flag(help: "Print the URL of the emulator's page, which is there while the command runs.")
        var ui = false

        @Argument(
            parsing: .postTerminator,
            help: ArgumentHelp("The command and its arguments, after --.", valueName: "command"))
        var command: [String]

        func validate() throws {
            guard command.first?.isEmpty == false else {
                throw ValidationError("no command: use kvsd emulator exec -- COMMAND")
            }
        }

        func run() async throws {
            let inherited = Descriptor.allInherited
            SignalForwarding.prepare()
            let (emulator, record) = try worlds.emulator()
            try await worlds.load(into: emulator)
            async let serving: Void = emulator.run()
            let running = try await emulator.running
            let directory = try TemporaryClientDirectory()
            if ui { Console.note("page: \(running.pageURL)") }
            // The sockets of the emulator would keep its port in use.
            Descriptor.closeOnExec(Descriptor.allOpen.subtracting(inherited))
            var variables = running.environment(world: worlds.world).merging(directory.variables) { $1 }
            // The key of another daemon.
            if ProcessInfo.processInfo.environment["UBIQUITY_KEY"] != nil {
                variables["UBIQUITY_KEY"] = ""
            }
            let status = await execute(firstClosed: (inherited.max() ?? STDERR_FILENO) + 1, variables: variables)
            directory.remove()
            await emulator.stop()
            try? await serving  // the status of the command counts
            do {
                if status != Self.notFound { try worlds.save(from: emulator) }
            } catch {
                guard status != 0 else { throw error }
                Console.report("\(error)")
            }
            if status == 0 { try record?.checkCompleteness() }
            throw ExitCode(status)
        }

        /// As a shell exits with.
        private static let notFound: Int32 = 127

        private func execute(firstClosed: Int32, variables: [String: String]) async -> Int32 {
            guard
                let child = ChildProcess(
                    command[0], arguments: Array(command.dropFirst()), firstClosed: firstClosed, variables: variables)
            else {
                let code = errno
                Console.report("cannot run \(command[0]): \(String(cString: strerror(code)).lowercased())")
                return code == ENOENT ? Self.notFound : 126
            }
            SignalForwarding.begin(to: child)
            return await withCheckedContinuation { continuation in
                DispatchQueue(label: "ubiquity.kvsd.child").async {
                    let status = child.wait()
                    SignalForwarding.end()
                    continuation.resume(returning: status)
                }
            }
        }
    }
}

/// A directory for the command's replicas.
private struct TemporaryClientDirectory {
    private let path: String

    init() throws(CommandFailure) {
        let parent = FileManager.default.temporaryDirectory
        let placeholder = String(repeating: "X", count: 6)
        let path = parent.appending(path: "kvsd-emulator-" + placeholder).path(percentEncoded: false)
        var template = Array(path.utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure(
                .cannotCreate, "cannot create \(path): \(String(cString: strerror(errno)).lowercased())"
            )
        }
        self.path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    var variables: [String: String] {
        ["UBIQUITY_DATA_DIR": path + "/data", "UBIQUITY_CONFIG_DIR": path + "/config"]
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }  // only space is lost
}
