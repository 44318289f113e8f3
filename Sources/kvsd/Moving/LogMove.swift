#if PostgreSQL
    import Commands
    import Essentials
    import KVStoreCore
    import KVStoreLedger
    import KVStoreLog
    import KVStorePostgreSQL
    import KVStoreServer

    /// The move of a data directory to a database, while its daemon runs or is stopped. Unchecked because one call
    /// follows the other; calls block.
    final class LogMove: @unchecked Sendable {
        private let directory: DataDirectory
        private let move: MoveFile.Move
        private let copy: DatabaseCopy
        /// Of the log of a daemon that runs.
        private let follower: LedgerFollower?
        /// The log without a daemon.
        private var ledger: Ledger?
        /// How long clients could not reach a daemon, as far as is known.
        private(set) var pause = Duration.zero
        private var lastStep = ContinuousClock.now

        /// Whether a daemon was running.
        var isRunning: Bool { follower != nil }

        init(_ directory: DataDirectory, to address: String) throws {
            self.directory = directory
            move = MoveFile.Move(database: address.withoutPassword)
            try Self.check(directory, move)
            do throws(ServerError) {
                ledger = try directory.openLedger()
                follower = nil
            } catch {
                guard error.code == .inUse else { throw error }
                follower = try directory.followLog()
            }
            let instance = try directory.withDevices { devices, _ in devices.instance }
            copy = try DatabaseCopy(DatabaseMigration(Database(address), isCopy: true), instance: instance)
        }

        private static func check(_ directory: DataDirectory, _ move: MoveFile.Move) throws {
            guard let former = try directory.moveFile.read(), former.database != move.database else { return }
            throw CommandFailure(
                .dataError,
                "the data of \(directory.path) has moved to the database \(former.database)")
        }

        /// Copies everything, and then what a daemon changes, until little is left.
        func follow() throws {
            if let ledger {
                return try copy.replaceAll(with: ledger.contents.allStores, progress: Console.noteProgress)
            }
            guard let follower else { return }
            _ = try ServerError.wrapping { () throws(LogError) in try follower.readOn() }
            try copy.replaceAll(with: follower.allStores, progress: Console.noteProgress)
            try copyChanges { try update(follower) }
        }

        private func update(_ follower: LedgerFollower) throws -> Int {
            let changed = try ServerError.wrapping { () throws(LogError) in try follower.readOn() }
            try copy.remove(changed.filter { follower.store($0) == nil })
            let count = try copy.update(changed.sorted().compactMap(follower.store))
            try directory.withDevices { devices, pairings throws(ServerError) in
                try copy.write(devices, pairings)
            }
            return count
        }

        /// Ends the daemon, copies what is left, and makes the database count instead of the log.
        ///
        /// - Parameter process: the daemon; nil if none was found.
        func finish(ending process: Int32?) throws -> MigrationSummary {
            guard let follower else { return try finish() }
            return try directory.holdingServers {
                try Self.check(directory, move)
                lastStep = .now
                let lock = try directory.endServer(process)
                _ = try update(follower)
                let isAtEnd = try ServerError.wrapping { () throws(LogError) in
                    try follower.isAtEnd
                }
                if !isAtEnd {
                    // It was killed, and what it has left is repaired like at any start.
                    let ledger = try lock.open()
                    self.ledger = ledger
                    try copy.replaceAll(with: ledger.contents.allStores)
                }
                let summary = try withExtendedLifetime(lock) { try finish() }
                pause = lastStep.duration(to: .now)
                return summary
            }
        }

        private func finish() throws -> MigrationSummary {
            try directory.withDevices { devices, pairings throws(ServerError) in
                try copy.write(devices, pairings)
                return try copy.finish { () throws(ServerError) in
                    try directory.moveFile.write(move)
                }
            }
        }

        /// Returns when the daemon accepts connections again, or false when it does not.
        func waitForServer(_ process: Int32?) throws -> Bool {
            let deadline = ContinuousClock.now + .seconds(5)
            while let process, kill(process, 0) == 0, ContinuousClock.now < deadline {
                if try directory.statusFile.read() != nil {
                    pause = lastStep.duration(to: .now)
                    return true
                }
                usleep(2_000)
            }
            return false
        }
    }
#endif
