import CommandSupport
import Essentials
import KVStoreLedger
import KVStoreLog
import KVStoreServer

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
                + (rest > 0 ? ", and \(rest) more" : "") + "; nothing was changed. "
                + (isDamaged
                    ? "'kvsd restore FILE --replace' puts a backup in its place; replicas send what "
                        + "the backup lacks"
                    : "'kvsd check --repair' cuts it, as the next start does"))
    }
}

extension LogDamage {
    func text(_ kind: String) -> String { "\(path): \(kind) at byte \(offset): \(detail)" }
}

extension CommandFailure {
    static func noData(in directory: DataDirectory) -> CommandFailure {
        CommandFailure(
            .noInput,
            "\(directory.path) contains no data of a daemon; use --data to name the directory")
    }
}
