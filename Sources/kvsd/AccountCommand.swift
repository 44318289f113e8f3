import ArgumentParser
import CommandSupport
import Essentials
import KVStoreServer
import LocalFiles
import TerminalText

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
            "Limit on the memory of all keys and values, such as 100MB; 'none' for no limit.",
            valueName: "size"),
        transform: LimitArgument.bytes)
    var maxBytes: LimitArgument?

    @Option(
        help: ArgumentHelp(
            "Limit on the number of stores; 'none' for the default limit.",
            valueName: "count"),
        transform: LimitArgument.stores)
    var maxStores: LimitArgument?
}

extension AccountCommand {
    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add an account, optionally with limits.",
            discussion: """
                Examples:

                  kvsd account add family
                  kvsd account add guests --max-bytes 10MB --max-stores 5
                """)

        @Argument(help: "Name of the account.") var name: String
        @OptionGroup var limits: LimitOptions
        @OptionGroup var data: DataOption

        func run() throws {
            try data.directory.create()
            for change in try data.directory.protect() { Console.report(change) }
            try data.directory.deviceFile.addAccount(
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
            abstract: "List the accounts with what they use.",
            discussion: "Reads the whole log, also while the daemon runs.")

        @Flag(help: "Print JSON.") var json = false
        @OptionGroup var data: DataOption

        func run() throws {
            let accounts = try data.existing().accountUsage()
            if json {
                try Console.printJSON(accounts)
            } else {
                for line in table(of: accounts).lines() { try Console.print(line) }
            }
        }
    }

    struct Limit: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change the limits of an account.",
            discussion: """
                Beyond a limit, changes that grow are refused and replicas keep them until there is \
                room. A limit below what is used removes nothing.

                  kvsd account limit family --max-bytes 1GB
                  kvsd account limit family --max-bytes none --max-stores 50
                """)

        @Argument(help: "Name of the account.") var name: String
        @OptionGroup var limits: LimitOptions
        @OptionGroup var data: DataOption

        func validate() throws {
            if limits.maxBytes == nil, limits.maxStores == nil {
                throw ValidationError("give --max-bytes, --max-stores or both")
            }
        }

        func run() throws {
            let account = try data.existing().deviceFile.limitAccount(name) { account in
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
            abstract: "Remove an account with all its devices, stores and keys.",
            discussion: """
                Lists what will be removed and asks for confirmation. The account's tokens and pairing codes are revoked \
                and its live streams end at once. If the removal of its stores is interrupted, the next \
                start of the daemon finishes it.

                  kvsd account remove guests
                """)

        @Argument(help: "Name of the account.") var name: String
        @Flag(help: "Do not ask before removing.") var yes = false
        @OptionGroup var data: DataOption

        func run() throws {
            let directory = try data.existing()
            let found = try directory.accountUsage().first { $0.account == name }
            guard let account = found else {
                throw CommandFailure(
                    .dataError, "unknown account '\(name)'; see 'kvsd account list'")
            }
            if !account.isBeingRemoved {
                let devices =
                    account.devices.isEmpty ? "none" : account.devices.joined(separator: ", ")
                try directory.deviceFile.checkRemoval(ofAccount: name)
                try Console.print("The account \(name) has")
                try Console.print("  devices  \(VisibleText.escape(devices))")
                try Console.print("  stores   \(account.storeCount), with \(account.keyCount) keys")
                if !yes, try !Console.confirm(verb: "remove") {
                    return try Console.print("Nothing was changed.")
                }
            }
            try directory.deviceFile.beginRemoval(ofAccount: name)
            guard try finish(in: directory) else {
                return try Console.print(
                    "The devices are removed, and the daemon is still removing the stores of "
                        + "\(name); 'kvsd account list' shows the account until it is done.")
            }
            try Console.print("Removed the account \(name).")
        }

        /// Returns false if a running daemon needs more than ten seconds.
        private func finish(in directory: DataDirectory) throws -> Bool {
            for _ in 0..<100 {
                if try !directory.deviceFile.isBeingRemoved(account: name) { return true }
                if try directory.finishAccountRemovals() { return true }
                usleep(100_000)
            }
            return try !directory.deviceFile.isBeingRemoved(account: name)
        }
    }
}
