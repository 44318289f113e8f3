import Essentials
import ArgumentParser
import Commands
import KVStoreCore
import KVStoreLedger
import KVStoreServer
import TerminalText

#if PostgreSQL
    import KVStorePostgreSQL
#endif

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "List stores, and remove those of a stopped daemon or a database.",
        discussion: """
            A running daemon removes a store with DELETE /v1/stores/NAME; docs/protocol.md describes it.
            """,
        subcommands: [List.self, Remove.self])
}

extension StoreCommand {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the stores, also while the daemon runs.")

        @Option(help: "List only stores of this account.") var account: String?
        @OptionGroup var storage: StorageOption

        func run() throws {
            let (stores, failure) = try storage.listedStores()
            let listed = stores.filter { account == nil || $0.id.account == account }
            try print(listed)
            if let failure { throw failure }
        }

        private func print(_ stores: [ListedStore]) throws {
            guard !stores.isEmpty else { return try Console.print("No stores.") }
            let titles = ["ACCOUNT", "STORE", "KEYS", "BYTES", "SEQUENCE NUMBER"]
            var table = TextTable(columns: titles.map { TextTable.Column($0) })
            for store in stores {
                table.append([
                    store.id.account, store.id.name, "\(store.keyCount)", "\(store.byteCount)",
                    "\(store.sequence)",
                ])
            }
            for line in table.lines() { try Console.print(line) }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a store with all its keys.",
            discussion: """
                Every device drops the keys at its next sync, and keeps what it has not sent yet.

                  kvsd store remove notes
                """)

        @Argument(help: "Name of the store.") var store: String
        @Option(help: "Account of the store.") var account = "default"
        @OptionGroup var storage: StorageOption

        func run() throws {
            let id = StoreID(account: account, name: store)
            guard let keyCount = try storage.removeStore(id) else {
                throw CommandFailure(
                    .dataError, "the account \(account) has no store '\(store)'; see 'kvsd store list'")
            }
            try Console.print("Removed \(store) of the account \(account): \(keyCount) keys.")
        }
    }
}

/// What 'kvsd store list' shows of a store.
private typealias ListedStore = (id: StoreID, keyCount: Int, byteCount: Int, sequence: UInt64)

extension StorageOption {
    /// Sorted by account and name, with what is wrong with the log.
    fileprivate func listedStores() throws -> ([ListedStore], failure: CommandFailure?) {
        #if PostgreSQL
            if let database = try openDatabase() { return (try database.storeSummaries(), nil) }
        #endif
        let found = try logDirectory().inspectLog().found
        let stores = found.stores.map { ($0.id, $0.hub.keyCount, $0.hub.byteCount, $0.hub.sequence) }
        return (stores, found.failure)
    }

    /// Returns how many keys the store had; nil without the store.
    fileprivate func removeStore(_ id: StoreID) throws -> Int? {
        #if PostgreSQL
            if let database = try openDatabase() { return try database.removeStore(id) }
        #endif
        let directory = try logDirectory()
        guard directory.hasLog else { throw CommandFailure.noData(in: directory) }
        let ledger = try directory.openLedger()
        guard let hub = ledger.hub(id) else { return nil }
        _ = try ledger.remove(id)
        try ledger.close()
        return hub.keyCount
    }
}
