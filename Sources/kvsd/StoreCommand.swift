import ArgumentParser
import CommandSupport
import KVStoreCore
import KVStoreLedger
import KVStoreServer
import TerminalText

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "List stores, and remove those of a stopped daemon.",
        discussion: """
            A running daemon removes a store with DELETE /v1/stores/NAME; docs/protocol.md describes it.
            """,
        subcommands: [List.self, Remove.self])
}

extension StoreCommand {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the stores, also while the daemon runs.")

        @Option(help: "List only stores of this account.") var account: String?
        @OptionGroup var data: DataOption

        func run() throws {
            let found = try data.directory.inspectLog().found
            let stores = found.stores.filter { account == nil || $0.id.account == account }
            try print(stores)
            if let failure = found.failure { throw failure }
        }

        private func print(_ stores: [(id: StoreID, hub: Hub)]) throws {
            guard !stores.isEmpty else { return try Console.print("No stores.") }
            let titles = ["ACCOUNT", "STORE", "KEYS", "BYTES", "SEQUENCE NUMBER"]
            var table = TextTable(columns: titles.map { TextTable.Column($0) })
            for (id, hub) in stores {
                table.append([
                    id.account, id.name, "\(hub.keyCount)", "\(hub.byteCount)", "\(hub.sequence)",
                ])
            }
            for line in table.lines() { try Console.print(line) }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a store with all its keys.",
            discussion: """
                Every device drops the keys at its next sync, and keeps what it has not sent yet.

                  kvsd store remove notes
                """)

        @Argument(help: "Name of the store.") var store: String
        @Option(help: "Account of the store.") var account = "default"
        @OptionGroup var data: DataOption

        func run() throws {
            guard data.directory.hasLog else { throw CommandFailure.noData(in: data.directory) }
            let ledger = try data.directory.openLedger()
            let id = StoreID(account: account, name: store)
            guard let hub = ledger.hub(id) else {
                throw CommandFailure(
                    .dataError,
                    "the account \(account) has no store '\(store)'; see 'kvsd store list'")
            }
            _ = try ledger.remove(id)
            try ledger.close()
            try Console.print("Removed \(store) of the account \(account): \(hub.keyCount) keys.")
        }
    }
}
