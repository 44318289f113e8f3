#if PostgreSQL
    import Commands
    import Essentials
    import KVStorePostgreSQL
    import KVStoreServer

    /// The move of a database to a data directory, while daemons run on the database or none does. Calls block.
    struct DatabaseMove {
        struct Result {
            var summary = MigrationSummary()
            /// Where the data is that was replaced.
            var former: String?
            /// The names of the daemons that were running.
            var nodes: [String] = []
            var lastStep = Duration.zero
        }

        private let shown: String
        private let migration: DatabaseMigration

        init(from address: String) throws {
            shown = address.withoutPassword
            migration = try DatabaseMigration(Database(address), isCopy: false)
        }

        /// - Parameter willFinish: is called before the last step.
        func perform(into directory: DataDirectory, willFinish: () -> Void) throws -> Result {
            let target = try DirectoryImport(into: directory, from: MoveFile.Move(database: shown))
            var result = Result()
            result.nodes = try migration.nodes
            var export: DatabaseExport?
            var start = ContinuousClock.now
            result.former = try target.perform { storage throws(ServerError) in
                let copy = try DatabaseExport(migration, to: storage)
                export = copy
                try copy.update(progress: Console.noteProgress)
                try copyChanges { () throws(ServerError) in try copy.update() }
                willFinish()
                start = .now
                try copy.lock()
                return try copy.complete()
            } commit: { () throws(ServerError) in
                try export?.commit()
            }
            result.lastStep = start.duration(to: .now)
            if let export { result.summary = export.summary }
            return result
        }
    }
#endif
