#if PostgreSQL
    package import Essentials
    package import KVStoreLedger
    package import KVStoreServer

    /// What a backup of a database contains: all stores, the devices, and the files of a node. It is written from a
    /// snapshot, and has a group of stores in memory at a time.
    package struct DatabaseBackup: BackupSource {
        private let snapshot: DatabaseSnapshot
        private let files: [AttachedFile]
        private let storeByteCount: Int
        private let progress: DatabaseMigration.Progress
        /// Milliseconds since 1970.
        private let created = ServerClock.wallMilliseconds()

        /// Everything acknowledged before the call is included.
        ///
        /// - Parameter directory: of the node whose key and certificate are included, if any. Its settings are not:
        ///   they name the database.
        package init(
            of database: Database, with directory: DataDirectory?, progress: @escaping DatabaseMigration.Progress
        ) throws(ServerError) {
            snapshot = try DatabaseSnapshot(database)
            storeByteCount = try snapshot.storeByteCount()
            self.progress = progress
            let devices = try snapshot.devices().json
            _ = try DeviceTable(json: devices, path: "the devices of the database", isLimited: false)
            files =
                [AttachedFile(name: "devices.json", content: devices)]
                + (try directory.map(DirectoryBackup.files) ?? []).filter(\.belongsToNode)
        }

        package var byteCount: Int {
            BackupEncoder.byteCount(attaching: files, storeByteCount: storeByteCount)
        }

        package func write(_ append: (Data) throws -> Void) throws -> BackupSummary {
            var encoder = BackupEncoder(
                attaching: files, storeByteCount: storeByteCount, created: created, id: .random(in: 1 ... .max))
            var count = 0
            try snapshot.readStores { store, damage in
                if let damage = damage.first {
                    throw ServerError(
                        .unreadable, damage.description, hint: "'kvsd check' lists everything; the former backup stays")
                }
                encoder.append(store)
                count += 1
                guard let piece = encoder.takePiece() else { return }
                try append(Data(piece))
                if count < snapshot.storeCount { progress(count, snapshot.storeCount) }
            }
            progress(count, snapshot.storeCount)
            let (piece, summary) = encoder.finish()
            try append(Data(piece))
            return summary
        }
    }
#endif
