package import Essentials
package import KVStoreLedger
import KVStoreLog
import LocalFiles

/// What a backup of a data directory contains: the ledger and, where they exist, the files of `limits`.
package struct DirectoryBackup: BackupSource {
    private let ledger: LedgerInspection
    private let files: [AttachedFile]
    /// Milliseconds since 1970.
    private let created: Int64

    /// The files that a backup may contain, with their greatest sizes. Pairings are not among them: a restored one
    /// could be used a second time.
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
    // Without a lock this is still a state that the server could have had. Frames are only ever appended, and reading
    // stops at the first byte that is not a valid frame, so what is read is what a crash at that instant would have
    // left: a prefix of the log, with what is acknowledged in it, as an answer waits until its frames are in the file.
    // Three things could break that, and each is excluded or reported. A segment may be removed by compaction: all are
    // opened before the first is read, and the list counts only if the oldest was still there afterwards, so what was
    // moved out of an earlier one is in the list. A write under way may be seen in part: what follows the hole makes a
    // finding, and `inspect` reads again; a finding that stays refuses the backup. A segment that is not the last was
    // finished before its successor was created, which records its end: fewer frames are damage. So no frame is ever
    // skipped silently.
    package init(of directory: DataDirectory) throws(ServerError) {
        created = ServerClock.wallMilliseconds()
        ledger = try directory.inspect().found
        if let finding = ledger.findings.first { throw ServerError(.damaged(finding)) }
        files = try Self.files(in: directory)
        // With devices that cannot be read it could not be restored, and would take the place of one that can.
        if let devices = files.first(where: { $0.name == "devices.json" }) {
            _ = try DeviceTable(json: devices.content, path: directory.path + "/devices.json")
        }
    }

    /// The files of a directory that a backup contains.
    package static func files(in directory: DataDirectory) throws(ServerError) -> [AttachedFile] {
        var files: [AttachedFile] = []
        for (name, limit) in limits.sorted(by: { $0.key < $1.key }) {
            let content = try ServerError.wrapping { () throws(FileError) in
                try LocalFile(directory.path + "/" + name).read(byteLimit: limit)
            }
            if let content { files.append(AttachedFile(name: name, content: content.data)) }
        }
        return files
    }

    package var byteCount: Int { ledger.backupByteCount(attaching: files) }

    package func write(_ append: (Data) throws -> Void) throws -> BackupSummary {
        try ledger.writeBackup(
            attaching: files, created: created, id: .random(in: 1 ... .max)
        ) { bytes in try append(Data(bytes)) }
    }
}

extension LedgerBackup {
    /// Verifies a backup of a data directory.
    package init(verifying path: String) throws(ServerError) {
        let status = try ServerError.wrapping { () throws(FileError) in
            try FileStatus(path: path)
        }
        guard status?.kind == .file else { throw ServerError(.invalidBackup, "\(path): not a regular file") }
        do throws(LogError) {
            var limits = DirectoryBackup.limits
            // That of a database may have more devices than a directory.
            limits["devices.json"] = .max
            try self.init(verifying: path, limits: limits)
        } catch {
            switch error {
            case .damaged(let damage):
                throw ServerError(
                    .invalidBackup, "\(path): not an intact backup: \(damage.detail) at byte \(damage.offset)",
                    hint: "nothing was changed; use another copy")
            default: throw ServerError(error)
            }
        }
        _ = try deviceTable
    }

    /// The devices and accounts that restoring it admits; nil if it has no list of them.
    package var deviceTable: DeviceTable? {
        get throws(ServerError) {
            guard let file = files.first(where: { $0.name == "devices.json" }) else { return nil }
            do throws(ServerError) {
                return try DeviceTable(json: file.content, path: file.name, isLimited: false)
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
