import Essentials
package import KVStoreLedger
import KVStoreLog
package import KVStoreWire
import LocalFiles
import Logging

/// The directory with all data of a server:
///
///     devices.json       the devices that may use it
///     log/               the log of all stores, and the lock of the server that uses it
///     pairings.json      the codes that add devices
///     tls-*.pem          the key and certificate of `OwnCertificate`
///     daemon.json        how to reach the server that is running
///     kvsd.sock          the report of the server that is running
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

    package var reportSocket: ReportSocket { ReportSocket(dataDirectory: path) }

    /// The fingerprint of a certificate's public key.
    package func keyFingerprint(
        ofCertificate path: String
    ) throws(ServerError) -> KeyFingerprint {
        try CertificateFiles.keyFingerprint(of: LocalFile(path))
    }

    /// Creates the directory and its parents with mode 0700 if it is missing.
    package func create() throws(ServerError) {
        do throws(FileError) { try LocalDirectory(path).create() } catch {
            throw ServerError(.cannotCreate, error.description)
        }
    }

    /// Opens and locks the log; no server can use the directory while the ledger exists.
    package func openLedger() throws(ServerError) -> Ledger {
        try open { storage throws(LogError) in try Ledger(storage: storage, seed: 0) }
    }

    /// Whether a server has ever used the directory.
    package var hasLog: Bool { FileManager.default.fileExists(atPath: logPath) }

    /// Opens the stores. Blocks while the log is read.
    func openEngine(
        _ options: StorageEngine.Options, logger: Logger
    ) throws(ServerError) -> StorageEngine {
        let engine = try open { storage throws(LogError) in
            try StorageEngine(
                storage: storage, options: options, seed: .random(in: 0 ... .max), logger: logger)
        }
        for cut in engine.recovery.cutWrites {
            logger.warning(
                "\(cut.path): removed an incomplete write at byte \(cut.offset) (\(cut.detail)); replicas will be asked for what is missing"
            )
        }
        return engine
    }

    private func open<Value>(
        _ body: (FileLogStorage) throws(LogError) -> Value
    ) throws(ServerError) -> Value {
        let storage = try lockedStorage()
        do throws(LogError) { return try body(storage) } catch { throw ServerError(error) }
    }

    /// The ledger locks again when it opens the log; on the same open file that changes nothing, so
    /// the lock is held throughout.
    func lockedStorage() throws(ServerError) -> FileLogStorage {
        do throws(FileError) {
            let storage = try FileLogStorage(directory: logPath)
            if try storage.lockIfFree() { return storage }
        } catch {
            throw ServerError(.storage, error.description)
        }
        throw ServerError(
            .inUse, "\(path) is in use by another server",
            hint: "stop it, or choose another directory with --data")
    }
}

extension ServerError {
    init(_ error: LogError) {
        switch error {
        case .damaged:
            self.init(
                .unreadable, error.description,
                hint: """
                    nothing was changed. Copy the directory, restore it from a backup and run \
                    'kvsd check'; replicas send what the backup lacks
                    """)
        case .incompatible: self.init(.unreadable, error.description, hint: "update kvsd")
        default: self.init(.storage, error.description)
        }
    }
}
