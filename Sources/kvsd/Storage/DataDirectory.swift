import Foundation
import KVStore
import Logging

/// Where a daemon keeps everything:
///
///     devices.json       who may talk to it
///     log/               the log with all stores, and the lock of the daemon that uses it
struct DataDirectory: Sendable {
    let path: String

    /// The given path, or `kvsd` below the directory of all of this product's data.
    init(_ path: String?) {
        let chosen = path ?? StoreDirectories.data() + "/kvsd"
        self.path = URL(filePath: chosen).standardizedFileURL.path(percentEncoded: false)
    }

    var logPath: String { path + "/log" }

    var deviceFile: DeviceFile { DeviceFile(dataDirectory: path) }

    /// Makes it, with its parents, where it is missing; a new one is for its owner only.
    func create() throws(DataDirectoryError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw .cannotCreate(path: path, detail: error.localizedDescription)
        }
    }

    var hasLog: Bool { FileManager.default.fileExists(atPath: logPath) }

    /// The log's files with their lock taken, so that no other daemon can use them as long as they
    /// are open.
    ///
    /// The ledger locks again when it opens the log; on the same open file that changes nothing and
    /// does not wait, so there is no moment at which nobody holds the lock.
    func lockedStorage() throws(DataDirectoryError) -> FileLogStorage {
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
}

enum DataDirectoryError: Error, Sendable, Equatable, CustomStringConvertible {
    case cannotCreate(path: String, detail: String)
    case inUse(path: String)
    case storage(StorageFailure)
    case log(LogError)

    var description: String {
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
    var exitCode: Int32 {
        switch self {
        case .cannotCreate: 73
        case .inUse: 75
        case .storage, .log: 74
        }
    }
}
