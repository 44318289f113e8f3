package import Essentials
package import KVStoreLedger
import KVStoreLog
import LocalFiles

/// What a backup of a data directory contains: the ledger and, where they exist, the files of `limits`.
package struct DirectoryBackup {
    private let ledger: LedgerInspection
    private let files: [AttachedFile]
    /// Milliseconds since 1970.
    private let created: Int64

    /// The files that a backup may contain, with their greatest sizes. Pairings are not among them: a restored one could be
    /// used a second time.
    static let limits = [
        "config.json": 65_536, "devices.json": DeviceTable.byteCount,
        "notifications.json": notificationsByteCount, "vapid-key.pem": pushKeyByteCount,
        "tls-certificate.pem": CertificateFiles.byteCount,
        "tls-key.pem": CertificateFiles.byteCount,
    ]

    package static let notificationsByteCount = 8 * 1_024 * 1_024
    package static let pushKeyByteCount = 4_096

    /// Reads everything into memory. Everything acknowledged before the call is included, also beside a running server.
    ///
    /// - Throws: `unreadable` when the log is damaged or ends with an incomplete write.
    // Without a lock this is still a state that the server could have had. Frames are only ever appended, and reading stops
    // at the first byte that is not a valid frame, so what is read is what a crash at that instant would have left: a
    // prefix of the log, with what is acknowledged in it, as an answer waits until its frames are in the file. Three things
    // could break that, and each is excluded or reported. A segment may be removed by compaction: all are opened before
    // the first is read, and the list counts only if the oldest was still there afterwards, so what was moved out of an
    // earlier one is in the list. A write under way may be seen in part: what follows the hole makes a finding, and
    // `inspect` reads again; a finding that stays refuses the backup. A segment that is not the last was finished before
    // its successor was created, which records its end: fewer frames are damage. So no frame is ever skipped silently.
    package init(of directory: DataDirectory) throws(ServerError) {
        created = ServerClock.wallMilliseconds()
        ledger = try directory.inspect().found
        if let finding = ledger.findings.first { throw ServerError(.damaged(finding)) }
        var files: [AttachedFile] = []
        for (name, limit) in Self.limits.sorted(by: { $0.key < $1.key }) {
            let content = try ServerError.wrapping { () throws(FileError) in
                try LocalFile(directory.path + "/" + name).read(byteLimit: limit)
            }
            if let content { files.append(AttachedFile(name: name, content: content.data)) }
        }
        self.files = files
    }

    package var byteCount: Int { ledger.backupByteCount(attaching: files) }

    /// Passes the bytes to `write` in pieces.
    package func write<Failure: Error>(
        to write: (Data) throws(Failure) -> Void
    ) throws(Failure) -> BackupSummary {
        try ledger.writeBackup(
            attaching: files, created: created, id: .random(in: 1 ... .max)
        ) { bytes throws(Failure) in try write(Data(bytes)) }
    }

    /// Writes the backup, durably and with mode 0600. Removes what killed backups have left beside it.
    ///
    /// - Throws: `fileExists` unless `replacing`. The file is complete or unchanged.
    package func write(to path: String, replacing: Bool) throws(ServerError) -> BackupSummary {
        var summary: BackupSummary?
        let isWritten = try ServerError.wrapping { () throws(FileError) in
            let file = LocalFile(path)
            // A directory that cannot be listed may still be written to.
            try? file.directory.removeAbandonedFiles()
            return try file.write(replacing: replacing) { append throws(FileError) in
                summary = try write(to: append)
            }
        }
        guard let summary, isWritten else { throw .fileExists(path) }
        return summary
    }
}

extension LedgerBackup {
    /// Verifies a backup of a data directory.
    package init(verifying path: String) throws(ServerError) {
        let status = try ServerError.wrapping { () throws(FileError) in
            try FileStatus(path: path)
        }
        guard status?.kind == .file else {
            throw ServerError(.invalidBackup, "\(path): not a regular file")
        }
        do throws(LogError) {
            try self.init(verifying: path, limits: DirectoryBackup.limits)
        } catch {
            switch error {
            case .damaged(let damage):
                throw ServerError(
                    .invalidBackup,
                    "\(path): not an intact backup: \(damage.detail) at byte \(damage.offset)",
                    hint: "nothing was changed; use another copy")
            default: throw ServerError(error)
            }
        }
        _ = try devices
    }

    /// The devices that restoring it admits; nil if it has no list of devices.
    package var devices: [Device]? {
        get throws(ServerError) {
            guard let file = files.first(where: { $0.name == "devices.json" }) else { return nil }
            do throws(ServerError) {
                return try DeviceTable(json: file.content, path: file.name).devices
            } catch {
                throw ServerError(.invalidBackup, "\(path): \(error.message)")
            }
        }
    }
}

extension ServerError {
    static func fileExists(_ path: String) -> ServerError {
        ServerError(.cannotCreate, "\(path) already exists", hint: "add --replace to replace it")
    }
}
