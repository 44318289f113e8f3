import Foundation
import KVStore
import KVStoreHTTP
import TerminalText

/// How a store stands, for people and for programs.
struct StatusReport {
    var store: String
    var credentials: Credentials?
    var connection: String
    var status: StoreStatus
    var directory: String
    /// Damaged files that still lie in the replica's folder.
    var filesSetAside: [String]

    struct Document: Encodable, Equatable {
        var store: String
        var joined: Bool
        var daemon: String?
        var account: String?
        var device: String?
        var deviceID: String?
        var connection: String
        var initialSyncCompleted: Bool
        var lastSync: String?
        var pendingKeys: Int
        var usedBytes: Int
        var limitBytes: Int
        var usedKeys: Int
        var limitKeys: Int
        var replica: String
        var directory: String
        var recoveryNotes: [String]
        var damagedFiles: [String]
    }

    var document: Document {
        Document(
            store: store, joined: credentials != nil, daemon: credentials?.daemon.description,
            account: credentials?.account, device: credentials?.deviceName,
            deviceID: credentials?.deviceID, connection: connection,
            initialSyncCompleted: status.initialSyncCompleted,
            lastSync: lastSync.map(DateText.text), pendingKeys: status.pendingKeyCount,
            usedBytes: status.usedByteCount, limitBytes: status.limits.totalByteCount,
            usedKeys: status.usedKeyCount, limitKeys: status.limits.keyCount,
            replica: status.replica.description, directory: directory,
            recoveryNotes: status.recoveryNotes, damagedFiles: filesSetAside)
    }

    func lines(now: Date) -> [String] {
        var table = TextTable(columns: [.init(""), .init("")])
        table.append(["store", store])
        if let credentials {
            table.append(["account", credentials.account])
            table.append(["device", "\(credentials.deviceName) (\(credentials.deviceID))"])
            table.append(["daemon", credentials.daemon.description])
        }
        table.append(["connection", connection])
        if credentials != nil {
            table.append([
                "last sync", lastSync.map { DurationFormatter.age(of: $0, at: now) } ?? "never",
            ])
            table.append(["waiting", "\(status.pendingKeyCount) keys to be sent"])
        }
        table.append([
            "space", "\(status.usedByteCount) of \(status.limits.totalByteCount) bytes",
        ])
        table.append(["keys", "\(status.usedKeyCount) of \(status.limits.keyCount)"])
        table.append(["replica", "\(status.replica) in \(directory)"])
        for note in status.recoveryNotes { table.append(["repaired", note]) }
        for path in filesSetAside {
            table.append(["damaged", "\(path) was set aside; look at it, then remove it"])
        }
        return table.lines()
    }

    private var lastSync: Date? {
        status.lastSyncMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
    }
}
