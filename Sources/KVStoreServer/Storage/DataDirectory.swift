import Foundation
package import KVStore
import Logging

/// Where a daemon keeps everything:
///
///     devices.json       who may talk to it
///     log/               the log with all stores, and the lock of the daemon that uses it
package struct DataDirectory: Sendable {
    package let path: String

    /// The given path, or `kvsd` below the directory of all of this product's data.
    package init(_ path: String?) {
        let chosen = path ?? StoreDirectories.data() + "/kvsd"
        self.path = URL(filePath: chosen).standardizedFileURL.path(percentEncoded: false)
    }

    package var logPath: String { path + "/log" }

    package var deviceFile: DeviceFile { DeviceFile(dataDirectory: path) }

    /// Makes it, with its parents, where it is missing; a new one is for its owner only.
    package func create() throws(DataDirectoryError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw .cannotCreate(path: path, detail: error.localizedDescription)
        }
    }

    package var hasLog: Bool { FileManager.default.fileExists(atPath: logPath) }

    /// The log's files with their lock taken, so that no other daemon can use them as long as they
    /// are open.
    ///
    /// The ledger locks again when it opens the log; on the same open file that changes nothing and
    /// does not wait, so there is no moment at which nobody holds the lock.
    package func lockedStorage() throws(DataDirectoryError) -> FileLogStorage {
        let storage: FileLogStorage
        let isLocked: Bool
        do throws(StorageFailure) {
            storage = try FileLogStorage(directory: logPath)
            isLocked = try storage.lockIfFree()
        } catch {
            throw .storage(error)
        }
        guard isLocked else { throw .inUse(path: path) }
        return storage
    }

    /// Opens the stores. Blocks while the log is read.
    func openKeeper(
        _ options: StoreKeeper.Options, logger: Logger
    ) throws(DataDirectoryError) -> StoreKeeper {
        let storage = try lockedStorage()
        let keeper: StoreKeeper
        do throws(LogError) {
            keeper = try StoreKeeper(
                storage: storage, options: options, seed: UInt64.random(in: 0...UInt64.max),
                logger: logger)
        } catch {
            throw .log(error)
        }
        for cut in keeper.recovery.cutWrites {
            logger.warning(
                "\(cut.path), byte \(cut.offset): a write that never became whole has been cut (\(cut.detail)); replicas are asked to send again what is missing"
            )
        }
        return keeper
    }
}

package enum DataDirectoryError: Error, Sendable, Equatable, CustomStringConvertible {
    case cannotCreate(path: String, detail: String)
    case inUse(path: String)
    case storage(StorageFailure)
    case log(LogError)

    package var description: String {
        switch self {
        case .cannotCreate(let path, let detail): "could not make the folder \(path): \(detail)"
        case .inUse(let path):
            "\(path) is in use by another kvsd: stop that one, or choose another folder with --data"
        case .storage(let failure): failure.description
        case .log(.damaged(let damage)):
            """
            \(LogError.damaged(damage))
            Nothing was changed. Copy the folder away, then restore it from a backup; replicas send
            what is newer. 'kvsd check' looks at it again.
            """
        case .log(let error): error.description
        }
    }

    /// As sysexits.h numbers them.
    package var exitCode: Int32 {
        switch self {
        case .cannotCreate: 73
        case .inUse: 75
        case .storage, .log: 74
        }
    }
}
