import ArgumentParser
import Commands
import Essentials
import KVStoreServer

#if PostgreSQL
    import KVStorePostgreSQL
#endif

/// The option of every command.
struct DataOption: ParsableArguments {
    @Option(help: ArgumentHelp("Directory with the daemon's data.", valueName: "dir"))
    var data: String?

    var directory: DataDirectory { DataDirectory(data) }

    /// The directory if it is there: a mistyped one must not look like that of a daemon without devices.
    func existing() throws(CommandFailure) -> DataDirectory {
        guard FileManager.default.fileExists(atPath: directory.path) else { throw .noData(in: directory) }
        return directory
    }
}

/// The options of commands on data that is in the directory or in a database.
struct StorageOption: ParsableArguments {
    @OptionGroup var data: DataOption

    @Option(
        help: ArgumentHelp(
            """
            Address of the PostgreSQL database that the daemon uses instead of a log. Not with a password, which \
            every user of this machine sees in the list of processes: put it into a password file.
            """,
            valueName: "address"))
    var database: String?

    func validate() { database?.warnOfPassword() }

    var directory: DataDirectory { data.directory }

    /// The address of the database that a daemon of this directory uses; nil for a log of its own.
    ///
    /// - Throws: also where a daemon of a database runs here, and nothing names that: its devices are not in the files.
    func databaseAddress() throws -> String? {
        let address = try EffectiveSettings.read(directory, options: databaseSetting).database(of: directory)
        if address == nil, directory.isNodeLocked {
            throw CommandFailure(
                .configuration,
                "the daemon of \(directory.path) keeps its data in a database; name it with --database, or with the "
                    + "setting 'database' in \(directory.path)/config.json")
        }
        return address
    }

    /// As an option of 'kvsd serve'.
    var databaseSetting: [(name: String, value: String)] {
        database.map { [("database", $0)] } ?? []
    }

    /// Where devices, accounts and codes are.
    ///
    /// - Parameter isCreating: whether the directory, or the schema of the database, may be missing.
    func devices(isCreating: Bool = false) throws -> any DeviceStorage {
        #if PostgreSQL
            if let database = try openDatabase(isCreating: isCreating) {
                return try DeviceDatabase(database)
            }
        #endif
        let directory = try logDirectory()
        guard isCreating else { return try data.existing().deviceFile }
        try directory.create()
        for change in try directory.protect() { Console.report(change) }
        return directory.deviceFile
    }

    /// The directory with the log and devices.
    ///
    /// - Precondition: `openDatabase` has returned nil.
    func logDirectory() throws -> DataDirectory {
        guard try databaseAddress() == nil else { throw CommandFailure.withoutDatabase }
        return directory
    }

    /// The directory of a node of the database; nil for that of a daemon with a log of its own.
    var nodeDirectory: DataDirectory? {
        get throws { try directory.hasLog && directory.moveFile.read() == nil ? nil : directory }
    }

    #if PostgreSQL
        /// The database that the daemon uses; nil for the log and files of the directory.
        func openDatabase(isCreating: Bool = false) throws -> Database? {
            guard let address = try databaseAddress() else { return nil }
            let database = Database(address)
            guard try isCreating || database.hasSchema else {
                throw CommandFailure(
                    .noInput,
                    "the database \(address.withoutPassword) contains no data of a daemon; use --database "
                        + "to name another")
            }
            try database.prepare()
            return database
        }
    #endif
}

extension CommandFailure {
    static let withoutDatabase = CommandFailure(
        .configuration,
        """
        this kvsd was built without PostgreSQL; install libpq-dev and build it with \
        'swift build -c release --traits PostgreSQL --product kvsd'
        """)
}
