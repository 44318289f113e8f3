package import Essentials
package import KVStoreLedger
import LocalFiles

/// Data that a backup is made of, as it was at one instant.
package protocol BackupSource {
    /// Bytes of the backup.
    var byteCount: Int { get }

    /// Passes the bytes to `append` in pieces. Throws its own errors, and those of `append`.
    func write(_ append: (Data) throws -> Void) throws -> BackupSummary
}

extension BackupSource {
    /// Writes the backup, durably and with mode 0600. Removes what killed backups have left beside it.
    ///
    /// - Throws: `fileExists` unless `replacing`. The file is complete or unchanged.
    package func write(to path: String, replacing: Bool) throws -> BackupSummary {
        var summary: BackupSummary?
        var failure: (any Error)?
        do {
            let isWritten = try ServerError.wrapping { () throws(FileError) in
                let file = LocalFile(path)
                // A directory that cannot be listed may still be written to.
                try? file.directory.removeAbandonedFiles()
                return try file.write(replacing: replacing) { append throws(FileError) in
                    do { summary = try write(append) } catch let error as FileError {
                        throw error
                    } catch {
                        failure = error
                        throw FileError(operation: "write", path: path, code: ECANCELED)
                    }
                }
            }
            guard let summary, isWritten else { throw ServerError.fileExists(path) }
            return summary
        } catch {
            throw failure ?? error
        }
    }
}

extension AttachedFile {
    /// Whether it stays in the directory of a node whose stores and devices are in a database.
    package var belongsToNode: Bool { !["config.json", "devices.json"].contains(name) }
}

extension LedgerBackup {
    /// Puts the key, certificate and other files of a server that the data does not consist of where a directory lacks
    /// them.
    ///
    /// - Returns: The names of those that were put there, and of those that differ and stay.
    package func placeFiles(
        in directory: DataDirectory
    ) throws(ServerError) -> (placed: [String], different: [String]) {
        var (placed, different): ([String], [String]) = ([], [])
        for file in files where file.belongsToNode {
            try directory.create()
            let target = LocalFile(directory.path + "/" + file.name)
            try ServerError.wrapping { () throws(FileError) in
                if try target.create(with: file.content) {
                    placed.append(file.name)
                } else if try target.read(byteLimit: .max)?.data != file.content {
                    different.append(file.name)
                }
            }
        }
        return (placed, different)
    }
}
