import ArgumentParser
import Commands
import Essentials
import KVStoreServer

#if PostgreSQL
    import KVStorePostgreSQL
#endif

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Move all data of a daemon to a PostgreSQL database, or back.",
        discussion: """
            Moves stores with their history, devices, accounts and pairing codes, and compares both sides. \
            Replicas and pages go on as if nothing had happened. Daemons may run: the command copies \
            what they change until little is left, and only the last step keeps clients waiting, for \
            less than a second. Run the command again after an interruption: it continues.

              kvsd migrate --to postgres:///kvsd
              kvsd serve --database postgres:///kvsd

            --to needs a database without data of its own. In the last step it ends the daemon, which \
            then starts again by itself: with the setting 'database' in its file, on the database; set \
            it before. The directory stays as it is, with a file moved.json, because of which no daemon \
            starts on its log.

            --from needs an empty directory, or one whose data has moved; what is replaced is kept beside \
            it. From the last step on, daemons on the database refuse requests: stop them, and start \
            one without --database.

            Put a password into a password file of libpq: every user of this machine sees the arguments.

            SIGINT before the last step ends the command; nothing has moved then.
            """)

    @Option(help: ArgumentHelp("Address of the database to move to.", valueName: "address"))
    var to: String?
    @Option(help: ArgumentHelp("Address of the database to move from.", valueName: "address"))
    var from: String?
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var data: DataOption

    func validate() throws {
        guard (to == nil) != (from == nil) else { throw ValidationError("give --to or --from") }
        // A variable of a script that is not set would name the database that libpq takes without an address.
        for address in [to, from] { address?.warnOfPassword() }
        guard to != "", from != "" else {
            throw ValidationError("the address is empty; give one as postgres://USER@HOST/DATABASE")
        }
    }

    func run() async throws {
        #if PostgreSQL
            let signals = EndSignals()
            let interruption = MoveInterruption()
            async let _: Void = {
                await signals.wait()
                guard !Task.isCancelled else { return }
                interruption.signalArrived()
            }()
            if let to { try await move(to: to, interruption) }
            if let from { try await move(from: from, interruption) }
        #else
            throw CommandFailure.withoutDatabase
        #endif
    }
}

#if PostgreSQL
    extension MigrateCommand {
        /// Fields are added, never renamed or removed.
        private struct Report: Encodable {
            var stores: Int
            var removedStores: Int
            var keys: Int
            var tombstones: Int
            var bytes: Int
            var devices: Int
            var checksum: String
            var from: String
            var to: String
            /// How long clients could not reach a daemon; null if none was running.
            var pauseSeconds: Double?
        }

        private func move(
            to address: String, _ interruption: MoveInterruption
        ) async throws {
            let directory = try data.existing()
            guard directory.hasLog else { throw CommandFailure.noData(in: directory) }
            let move = try await blocking {
                let move = try LogMove(directory, to: address)
                try move.follow()
                return move
            }
            let process = move.isRunning ? await directory.serverProcess() : nil
            interruption.beginLastStep()
            let summary = try await blocking { try move.finish(ending: process) }
            let shown = address.withoutPassword
            guard move.isRunning else {
                return try report(summary, from: directory.path, to: shown)
            }
            let isServed = try await blocking { try move.waitForServer(process) }
            try report(summary, from: directory.path, to: shown, pause: move.pause)
            Console.report(
                isServed
                    ? "kvsd runs on the database"
                    : "start kvsd with --database, or with the setting 'database' in its file")
        }

        private func move(
            from address: String, _ interruption: MoveInterruption
        ) async throws {
            let directory = data.directory
            let shown = address.withoutPassword
            let result = try await blocking {
                try DatabaseMove(from: address).perform(into: directory, willFinish: interruption.beginLastStep)
            }
            try report(
                result.summary, from: shown, to: directory.path,
                pause: result.nodes.isEmpty ? nil : result.lastStep)
            if let former = result.former { Console.report("the former data is in \(former)") }
            guard !result.nodes.isEmpty else { return }
            Console.report(
                """
                kvsd refuses requests at \(result.nodes.joined(separator: ", ")) from now on; stop it there, \
                and start one without --database
                """)
        }

        private func report(
            _ summary: MigrationSummary, from: String, to: String, pause: Duration? = nil
        ) throws {
            guard !json else {
                return try Console.printJSON(
                    Report(
                        stores: summary.storeCount, removedStores: summary.removedStoreCount,
                        keys: summary.keyCount, tombstones: summary.tombstoneCount,
                        bytes: summary.byteCount, devices: summary.deviceCount,
                        checksum: summary.checksum, from: from, to: to,
                        pauseSeconds: pause.map { ($0 / .seconds(1) * 1_000).rounded() / 1_000 }))
            }
            try Console.print("Moved everything from \(from) to \(to):")
            try Console.print(
                "  stores    \(summary.storeCount), and what remains of \(summary.removedStoreCount) removed ones"
            )
            try Console.print(
                "  keys      \(summary.keyCount) with \(ByteCount(summary.byteCount)), "
                    + "and \(summary.tombstoneCount) removed ones")
            try Console.print("  devices   \(summary.deviceCount)")
            try Console.print("  checksum  \(summary.checksum), equal on both sides")
            if let pause { try Console.print("  clients   waited \(pause.text)") }
        }
    }
#endif
