import Foundation
import KVStore
import KVStoreHTTP
import TerminalText

/// The state of a store, as a table and as JSON.
struct StatusReport {
    var store: String
    var credentials: Credentials?
    var connection: String
    var status: StoreStatus
    var directory: String
    /// Quarantined files in the replica's directory.
    var damagedFiles: [String]

    struct Document: Encodable {
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
            lastSync: lastSync.map(DateFormat.text), pendingKeys: status.pendingKeyCount,
            usedBytes: status.usedByteCount, limitBytes: status.limits.totalByteCount,
            usedKeys: status.usedKeyCount, limitKeys: status.limits.keyCount,
            replica: status.replica.description, directory: directory,
            recoveryNotes: status.recoveryNotes, damagedFiles: damagedFiles)
    }

    func lines(now: Date) -> [String] {
        var rows = [("store", store)]
        if let credentials {
            rows += [
                ("account", credentials.account),
                ("device", "\(credentials.deviceName) (\(credentials.deviceID))"),
                ("daemon", credentials.daemon.description),
            ]
        }
        rows.append(("connection", connection))
        if credentials != nil {
            let age = lastSync.map { DurationFormatter.age(of: $0, at: now) }
            rows += [
                ("last sync", age ?? "never"), ("pending", status.pendingKeyCount.keys),
            ]
        }
        rows += [
            ("space", "\(status.usedByteCount) of \(status.limits.totalByteCount) bytes"),
            ("keys", "\(status.usedKeyCount) of \(status.limits.keyCount)"),
            ("replica", "\(status.replica) in \(directory)"),
        ]
        rows += status.recoveryNotes.map { ("repaired", $0) }
        rows += damagedFiles.map { ("damaged", "\($0); inspect it, then remove it") }
        var table = TextTable(columns: [.init(""), .init("")])
        for (name, value) in rows { table.append([name, value]) }
        return table.lines()
    }

    private var lastSync: Date? {
        status.lastSyncMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
    }
}
