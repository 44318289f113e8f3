import Commands
import Essentials
import KVStoreCore
import KVStoreLedger
import KVStoreLog
import KVStoreServer

#if PostgreSQL
    import KVStorePostgreSQL
#endif

extension StorageOption {
    /// Calls `body` with every store, sorted by account and name, as far as it is intact; returns what is damaged.
    func readStores(_ body: (StoreContents) throws -> Void) throws -> CommandFailure? {
        #if PostgreSQL
            if let database = try openDatabase() {
                var damage: [DatabaseDamage] = []
                try DatabaseSnapshot(database).readStores { store, found in
                    damage += found
                    if !store.isRemoved { try body(store) }
                }
                return damage.failure
            }
        #endif
        let found = try logDirectory().inspectLog().found
        for store in found.stores { try body(store) }
        return found.failure
    }
}

#if PostgreSQL
    extension [DatabaseDamage] {
        /// Names the first; nil without any.
        var failure: CommandFailure? {
            guard let first else { return nil }
            return CommandFailure(
                .ioError,
                first.description + (count > 1 ? ", and \(count - 1) more" : "")
                    + "; nothing was changed. 'kvsd restore FILE --replace' puts a backup in its place; "
                    + "replicas send what the backup lacks")
        }
    }
#endif

extension Console {
    /// On a terminal, how many stores have been copied.
    static func showProgress(_ count: Int, of total: Int) {
        guard isErrorTerminal else { return }
        note("\r\(count) of \(total) stores", terminator: count == total ? "\n" : "")
    }
}

extension DataDirectory {
    /// `inspect`; a directory without data of a daemon is an error.
    func inspectLog() throws -> (found: LedgerInspection, isInUse: Bool) {
        guard hasLog else { throw CommandFailure.noData(in: self) }
        return try inspect()
    }
}

extension LedgerInspection {
    /// Names the first finding; nil if everything is intact.
    var failure: CommandFailure? {
        guard let first = findings.first else { return nil }
        let rest = findings.count - 1
        let isDamaged = !recovery.damage.isEmpty
        return CommandFailure(
            .ioError,
            first.text(isDamaged ? "damaged" : "incomplete write")
                + (rest > 0 ? ", and \(rest) more" : "") + "; "
                + (isDamaged
                    ? ServerError.damageAdvice
                    : "nothing was changed. 'kvsd check --repair' cuts it, as the next start does"))
    }
}

extension LogDamage {
    func text(_ kind: String) -> String { "\(path): \(kind) at byte \(offset): \(detail)" }
}

extension CommandFailure {
    static func noData(in directory: DataDirectory) -> CommandFailure {
        CommandFailure(.noInput, "\(directory.path) contains no data of a daemon; use --data to name the directory")
    }
}
