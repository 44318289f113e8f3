import Essentials
package import KVStoreLedger
package import KVStoreLog
package import KVStoreWire
package import LocalFiles
import Logging

/// The directory with all data of a server:
///
///     devices.json       the devices that may use it; devices.json.reserve is space to change it on a full disk
///     log/               the log of all stores, and the lock of the server that uses it
///     node.lock          the lock of the server that has its stores in a database instead
///     pairings.json      the codes that add devices
///     tls-*.pem          the key, certificate and authority of `OwnCertificate`
///     notifications.json who is sent notifications, with the key vapid-key.pem; alerts/ has what is known of their
///                        accounts
///     daemon.json        how to reach the server that is running
///     kvsd.sock          the server that is running, without TLS
///     status.sock        its report
///     moved.json         where the data is, if that is a database
///     restore/           a restore that was interrupted
package struct DataDirectory: Sendable {
    package let path: String

    /// - Parameter path: nil for `kvsd` in the user's data directory.
    package init(_ path: String?) {
        let chosen = path ?? UserDirectories().data + "/kvsd"
        self.path = URL(filePath: chosen).standardizedFileURL.path(percentEncoded: false)
    }

    package var logPath: String { path + "/log" }

    package var deviceFile: DeviceFile { DeviceFile(dataDirectory: path) }

    package var pairingFile: PairingFile { PairingFile(dataDirectory: path) }

    package var statusFile: DaemonStatusFile { DaemonStatusFile(dataDirectory: path) }

    var socketPath: String { path + "/kvsd.sock" }

    package var reportSocket: ReportSocket { ReportSocket(dataDirectory: path) }

    /// The fingerprint of a certificate's public key.
    package func keyFingerprint(ofCertificate path: String) throws(ServerError) -> KeyFingerprint {
        try CertificateFiles.keyFingerprint(of: LocalFile(path))
    }

    /// Creates the directory and its parents with mode 0700 if it is missing.
    package func create() throws(ServerError) {
        do throws(FileError) { try LocalDirectory(path).create() } catch {
            throw ServerError(.cannotCreate, error.description)
        }
    }

    /// Closes the directory and its list of devices to other users; returns what was changed, for the user.
    package func protect() throws(ServerError) -> [String] {
        var changes: [String] = []
        for (path, mode) in [(path, 0o700), (deviceFile.file.path, 0o600)] {
            do throws(FileError) {
                guard let status = try FileStatus(path: path), status.permissions & 0o077 != 0 else { continue }
                try LocalFile(path).setPermissions(mode)
                let found = String(status.permissions, radix: 8)
                changes.append(
                    "\(path) was open to other users (mode \(found)); it is now closed to them"
                        + (status.permissions & 0o022 == 0
                            ? "" : ". They could write to it: check 'kvsd device list'"))
            } catch {
                throw ServerError(
                    .storage, "\(path) is open to other users: \(error.description)",
                    hint: "make it the property of the user that runs kvsd, with mode 700")
            }
        }
        return changes
    }

    /// Throws if the data belongs to another user, whose server could not read what this one writes.
    package func checkOwner() throws(ServerError) { try deviceFile.file.checkOwner() }

    /// Opens and locks the log; no server can use the directory while the ledger exists.
    package func openLedger() throws(ServerError) -> Ledger {
        try checkOwner()
        return try open { storage throws(LogError) in
            try Ledger(storage: storage, seed: .random(in: 0 ... .max))
        }
    }

    /// Runs `body` while no other process changes devices, accounts and codes.
    package func withDevices<Result>(
        _ body: (DeviceTable, PairingTable) throws(ServerError) -> Result
    ) throws(ServerError) -> Result {
        try pairingFile.change { pairings throws(ServerError) in
            try deviceFile.change { devices throws(ServerError) in try body(devices, pairings) }
        }
    }

    /// Reads the whole log without changing anything, and whether a server uses the directory. What a running server is
    /// writing looks like an incomplete write for an instant, so findings count only if they stay.
    package func inspect() throws(ServerError) -> (found: LedgerInspection, isInUse: Bool) {
        for attempt in 0... {
            let storage = try ServerError.wrapping { () throws(FileError) in
                try ReadOnlyLogStorage(directory: logPath)
            }
            try checkNoRestore()
            let found = try ServerError.wrapping { () throws(LogError) in try Ledger.inspect(storage) }
            if found.findings.isEmpty || !storage.isInUse || attempt == 20 {
                return (found, storage.isInUse)
            }
            usleep(50_000)
        }
        fatalError("unreachable")
    }

    /// Whether a server has ever used the directory.
    package var hasLog: Bool { FileManager.default.fileExists(atPath: logPath) }

    /// Opens the stores. Blocks while the log is read.
    func openEngine(_ options: LogEngine.Options, logger: Logger) throws(ServerError) -> LogEngine {
        for change in try protect() { logger.warning("\(change)") }
        // They may hold the key of the certificate, as the file would that was to be written.
        try? LocalDirectory(path).removeAbandonedFiles()
        let engine = try open { storage throws(LogError) in
            try LogEngine(storage: storage, options: options, seed: .random(in: 0 ... .max), logger: logger)
        }
        for cut in engine.recovery.cutWrites {
            logger.warning(
                "\(cut.path): removed an incomplete write at byte \(cut.offset) (\(cut.detail)); replicas will be asked for what is missing"
            )
        }
        return engine
    }

    private func open<Value>(_ body: (FileLogStorage) throws(LogError) -> Value) throws(ServerError) -> Value {
        let storage = try lockedStorage()
        return try ServerError.wrapping { () throws(LogError) in try body(storage) }
    }

    /// The ledger locks again when it opens the log; on the same open file that changes nothing, so
    /// the lock is held throughout. Finishes a restore that was interrupted.
    func lockedStorage() throws(ServerError) -> FileLogStorage {
        let storage = try ServerError.wrapping { () throws(FileError) -> FileLogStorage? in
            let storage = try FileLogStorage(directory: logPath)
            return try storage.lockIfFree() ? storage : nil
        }
        guard let storage else { throw inUse }
        let restore = PreparedRestore(directory: self)
        if try restore.isPending() {
            try deviceFile.file.locked { () throws(ServerError) in
                _ = try ServerError.wrapping { () throws(FileError) in try restore.finish() }
            }
        }
        return storage
    }

    private var inUse: ServerError {
        ServerError(
            .inUse, "\(path) is in use by another server", hint: "stop it, or choose another directory with --data")
    }

    /// Locks the directory of a server that has its stores in a database, against others, as long as the lock exists.
    package func lockNode() throws(ServerError) -> FileLock {
        try create()
        let lock = try ServerError.wrapping { () throws(FileError) -> FileLock? in
            let lock = try FileLock(path + "/node.lock")
            return try lock.lockIfAvailable() ? lock : nil
        }
        guard let lock else { throw inUse }
        return lock
    }

    /// Whether a server that has its stores in a database runs with this directory.
    package var isNodeLocked: Bool {
        let file = path + "/node.lock"
        // A lock that cannot be tried keeps nobody from anything.
        return FileManager.default.fileExists(atPath: file) && (try? FileLock(file).lockIfAvailable()) == false
    }

    /// Finishes a restore that was interrupted, if there is one, before anything else is read.
    package func finishRestore() throws(ServerError) {
        if try PreparedRestore(directory: self).isPending() { _ = try lockedStorage() }
    }

    /// Readers without the lock must not see the segments of two logs.
    private func checkNoRestore() throws(ServerError) {
        guard try PreparedRestore(directory: self).isPending() else { return }
        throw ServerError(
            .storage, "a restore of \(path) is under way or was interrupted",
            hint: "the next start of kvsd finishes it")
    }
}

extension ServerError {
    /// Runs `body` and rethrows its error.
    package static func wrapping<Result>(_ body: () throws(LogError) -> Result) throws(ServerError) -> Result {
        do throws(LogError) { return try body() } catch { throw ServerError(error) }
    }

    /// The ways out of a damaged log.
    package static let damageAdvice = """
        nothing was changed. 'kvsd restore FILE --replace' puts a backup in its place and keeps the damaged log; \
        replicas send what the backup lacks. Without a backup, move the directory 'log' of the data directory aside: \
        kvsd then starts with an empty one, its key and devices stay, and replicas send all that they have. What is \
        intact in the damaged one 'kvsd dump --values' prints
        """

    package init(_ error: LogError) {
        switch error {
        case .damaged: self.init(.unreadable, error.description, hint: Self.damageAdvice)
        case .incompatible: self.init(.unreadable, error.description, hint: "update kvsd")
        default: self.init(.storage, error.description)
        }
    }
}
