import ArgumentParser
import Commands
import Essentials
import KVStoreServer
import LocalFiles
import TerminalText

#if PostgreSQL
    import KVStorePostgreSQL
#endif

struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Add, list, limit and remove accounts.",
        discussion: """
            An account has its own stores and devices, and sees nothing of any other. The account \
            'default' always exists. A running daemon applies every change at once.

              kvsd account add family --max-bytes 100MB --max-stores 20
              kvsd pair --account family
            """,
        subcommands: [Add.self, List.self, Limit.self, Remove.self])

    static func table(of accounts: [AccountUsage]) -> TextTable {
        let titles = ["ACCOUNT", "DEVICES", "STORES", "KEYS", "MEMORY"]
        var table = TextTable(columns: titles.map { TextTable.Column($0) })
        for account in accounts {
            let limit = account.byteLimit.map { " of \(ByteCount($0))" } ?? ""
            table.append([
                account.account + (account.isBeingRemoved ? " (being removed)" : ""),
                "\(account.devices.count)", "\(account.storeCount) of \(account.storeLimit)",
                "\(account.keyCount)", "\(ByteCount(account.byteCount))\(limit)",
            ])
        }
        return table
    }
}

/// A limit, or none.
struct LimitArgument: Sendable {
    var value: Int?

    private static let units: [(name: String, byteCount: Int)] = [
        ("kb", 1_000), ("mb", 1_000_000), ("gb", 1_000_000_000), ("tb", 1_000_000_000_000),
        ("b", 1), ("", 1),
    ]

    /// "none", or a number of bytes as in `ByteCount`: "1000000", "100MB", "1 GB".
    static func bytes(_ text: String) throws -> LimitArgument {
        let lowercased = text.lowercased()
        if lowercased == "none" { return LimitArgument() }
        for unit in units where lowercased.hasSuffix(unit.name) {
            let digits = lowercased.dropLast(unit.name.count).filter { $0 != " " }
            guard let number = Int(digits), number > 0 else { break }
            let (value, isOverflow) = number.multipliedReportingOverflow(by: unit.byteCount)
            guard !isOverflow else { break }
            return LimitArgument(value: value)
        }
        throw ValidationError(
            "invalid size '\(text)': use a positive whole number, optionally followed by kB, MB, GB or TB, or 'none'"
        )
    }

    static func stores(_ text: String) throws -> LimitArgument {
        if text.lowercased() == "none" { return LimitArgument() }
        guard let value = Int(text), value > 0 else {
            throw ValidationError("invalid number '\(text)': use a positive number, or 'none'")
        }
        return LimitArgument(value: value)
    }
}

struct LimitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Limit on the memory of all keys and values, such as 100MB; 'none' for no limit.", valueName: "size"),
        transform: LimitArgument.bytes)
    var maxBytes: LimitArgument?

    @Option(
        help: ArgumentHelp("Limit on the number of stores; 'none' for the default limit.", valueName: "count"),
        transform: LimitArgument.stores)
    var maxStores: LimitArgument?
}

extension AccountCommand {
    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add an account, optionally with limits.",
            discussion: """
                Examples:

                  kvsd account add family
                  kvsd account add guests --max-bytes 10MB --max-stores 5
                """)

        @Argument(help: "Name of the account.") var name: String
        @OptionGroup var limits: LimitOptions
        @OptionGroup var storage: StorageOption

        func run() throws {
            try storage.devices(isCreating: true).addAccount(
                name, byteLimit: limits.maxBytes?.value, storeLimit: limits.maxStores?.value)
            try Console.print(
                """
                Added the account \(name). Add devices to it:

                  kvsd pair --account \(name)
                """)
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the accounts with what they use.",
            discussion: "Reads the whole log, also while the daemon runs.")

        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var storage: StorageOption

        func run() throws {
            let accounts = try storage.accountUsage()
            if json {
                try Console.printJSON(accounts)
            } else {
                for line in table(of: accounts).lines() { try Console.print(line) }
            }
        }
    }

    struct Limit: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "limit",
            abstract: "Change the limits of an account.",
            discussion: """
                Beyond a limit, changes that grow are refused and replicas keep them until there is \
                room. A limit below what is used removes nothing.

                  kvsd account limit family --max-bytes 1GB
                  kvsd account limit family --max-bytes none --max-stores 50
                """)

        @Argument(help: "Name of the account.") var name: String
        @OptionGroup var limits: LimitOptions
        @OptionGroup var storage: StorageOption

        func validate() throws {
            if limits.maxBytes == nil, limits.maxStores == nil {
                throw ValidationError("give --max-bytes, --max-stores or both")
            }
        }

        func run() throws {
            let account = try storage.devices().limitAccount(name) { account in
                if let limit = limits.maxBytes { account.byteLimit = limit.value }
                if let limit = limits.maxStores { account.storeLimit = limit.value }
            }
            let bytes = account.byteLimit.map { "\(ByteCount($0))" } ?? "unlimited"
            let stores = account.storeLimit.map { "\($0)" } ?? "default"
            try Console.print("Limits of the account \(name): memory: \(bytes), stores: \(stores)")
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove an account with all its devices, stores and keys.",
            discussion: """
                Lists what will be removed and asks for confirmation. The account's tokens and pairing codes are revoked \
                and its live streams end at once. If the removal of its stores is interrupted, the next \
                start of the daemon finishes it.

                  kvsd account remove guests
                """)

        @Argument(help: "Name of the account.") var name: String
        @Flag(help: "Do not ask before removing.") var yes = false
        @OptionGroup var storage: StorageOption

        func run() throws {
            let found = try storage.accountUsage().first { $0.account == name }
            guard let account = found else {
                throw CommandFailure(.dataError, "unknown account '\(name)'; see 'kvsd account list'")
            }
            let storage = try self.storage.devices()
            if !account.isBeingRemoved {
                let devices = account.devices.isEmpty ? "none" : account.devices.joined(separator: ", ")
                try storage.checkRemoval(ofAccount: name)
                try Console.print("The account \(name) has")
                try Console.print("  devices  \(VisibleText.escape(devices))")
                try Console.print("  stores   \(account.storeCount), with \(account.keyCount) keys")
                if !yes, try !Console.confirm(verb: "remove") {
                    return try Console.print("Nothing was changed.")
                }
            }
            try storage.beginRemoval(ofAccount: name)
            guard try finish(in: storage) else {
                let remover =
                    try self.storage.hasServer
                    ? "the daemon is still removing" : "the next daemon that starts removes"
                return try Console.print(
                    "The devices are removed, and \(remover) the stores of "
                        + "\(name); 'kvsd account list' shows the account until it is done.")
            }
            try Console.print("Removed the account \(name).")
        }

        /// Returns false if there is no running daemon of the database, or one needs more than ten seconds.
        private func finish(in devices: any DeviceStorage) throws -> Bool {
            for _ in 0..<100 {
                if try !devices.isBeingRemoved(account: name) { return true }
                if try storage.finishAccountRemovals() { return true }
                guard try storage.hasServer else { return false }
                usleep(100_000)
            }
            return try !devices.isBeingRemoved(account: name)
        }
    }
}

extension StorageOption {
    /// All accounts with what they use.
    fileprivate func accountUsage() throws -> [AccountUsage] {
        #if PostgreSQL
            if let database = try openDatabase() { return try database.accountUsage() }
        #endif
        guard try databaseAddress() == nil else { throw CommandFailure.withoutDatabase }
        return try data.existing().accountUsage()
    }

    /// Finishes the removals of accounts that have begun; returns false if daemons have to do it.
    fileprivate func finishAccountRemovals() throws -> Bool {
        try databaseAddress() == nil && directory.finishAccountRemovals()
    }

    /// Whether a daemon that removes accounts may be running.
    fileprivate var hasServer: Bool {
        get throws {
            #if PostgreSQL
                if let database = try openDatabase() { return try !database.nodes.isEmpty }
            #endif
            return true
        }
    }
}
