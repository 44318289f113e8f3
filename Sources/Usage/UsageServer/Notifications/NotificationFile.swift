import Essentials
import KVStoreServer
import KVStoreWire
import LocalFiles
import Synchronization

/// The files of a data directory about notifications, each of mode 0600: `notifications.json`, the key `vapid-key.pem`,
/// and in `alerts` what is remembered of each account. Calls block; any thread may make them.
final class NotificationFile: Sendable {
    private let file: LocalFile
    private let keyFile: LocalFile
    private let states: LocalDirectory
    private let cached = Mutex<NotificationTable?>(nil)
    private let cachedKey = Mutex<VAPIDKey?>(nil)

    private static let stateByteLimit = 8 * 1_024 * 1_024

    init(dataDirectory: String) {
        file = LocalFile(dataDirectory + "/notifications.json")
        keyFile = LocalFile(dataDirectory + "/vapid-key.pem")
        states = LocalDirectory(dataDirectory + "/alerts")
    }

    /// Who is sent what; empty without a file.
    var table: NotificationTable {
        get throws(FileError) { try change { $0 } }
    }

    /// Changes the table, durably. Whoever has the data directory's lock is the only one to write it.
    func change<Value: Sendable>(_ body: (inout NotificationTable) -> Value) throws(FileError) -> Value {
        try cached.withLock { cached throws(FileError) in
            let former = if let cached { cached } else { try read() }
            var table = former
            let value = body(&table)
            if table != former {
                let data = WireJSON.encode(table) + Data("\n".utf8)
                let limit = DirectoryBackup.notificationsByteCount
                guard data.count <= limit else {
                    throw FileError(operation: "write", path: file.path, cause: .tooLarge(byteLimit: limit))
                }
                try file.replace(with: data)
            }
            cached = table
            return value
        }
    }

    private func read() throws(FileError) -> NotificationTable {
        guard let content = try file.read(byteLimit: DirectoryBackup.notificationsByteCount)
        else { return NotificationTable() }
        func invalid(_ reason: String) -> FileError {
            FileError(operation: "read", path: file.path, cause: .invalid(reason))
        }
        let table: NotificationTable
        do throws(WireError) { table = try WireJSON.decode(from: content.data) } catch {
            throw invalid(error.description)
        }
        guard table.version == 1 else { throw invalid("version \(table.version), this program reads 1") }
        return table
    }

    /// The daemon's key, made when it is first needed.
    var key: VAPIDKey {
        get throws(FileError) {
            try cachedKey.withLock { cached throws(FileError) in
                if let cached { return cached }
                // Whatever came first counts.
                if try keyFile.read(byteLimit: DirectoryBackup.pushKeyByteCount) == nil {
                    _ = try keyFile.create(with: Data(VAPIDKey().pem.utf8 + [0x0A]))
                }
                guard let content = try keyFile.read(byteLimit: DirectoryBackup.pushKeyByteCount),
                    let key = VAPIDKey(pem: String(decoding: content.data, as: UTF8.self))
                else {
                    throw FileError(operation: "read", path: keyFile.path, cause: .invalid("not a P-256 private key"))
                }
                cached = key
                return key
            }
        }
    }

    /// The accounts for which something was saved.
    var accountsWithState: [String] {
        get throws(FileError) {
            guard try FileStatus(path: states.path) != nil else { return [] }
            return try states.entries(limit: 1_024).entries.map(\.name)
                .filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }
                .map { String($0.dropLast(".json".count)) }
        }
    }

    /// What was saved for an account; nil for nothing.
    func state(of account: String) throws(FileError) -> Data? {
        try stateFile(account).read(byteLimit: Self.stateByteLimit)?.data
    }

    func save(_ state: Data, of account: String) throws(FileError) {
        try states.create()
        try stateFile(account).replace(with: state, durability: .cached)
    }

    func removeState(of account: String) throws(FileError) { try stateFile(account).remove() }

    /// Names of accounts are names of files.
    private func stateFile(_ account: String) -> LocalFile { LocalFile(states.path + "/" + account + ".json") }
}
