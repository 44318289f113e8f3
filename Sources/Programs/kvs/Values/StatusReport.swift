import Essentials
import KVStoreEssentials
import KVStoreHTTP
import KVStoreWire
import TerminalText

/// The state of a store, as a JSON document and as a table.
struct StatusReport: Encodable {
    var store: String
    var joined: Bool
    var daemon: String?
    var account: String?
    var device: String?
    var deviceID: String?
    var connection: String
    /// The code of the error that kept the daemon from being reached.
    var problem: String?
    var initialSyncCompleted: Bool
    var lastSync: Date?
    var pendingKeys: Int
    /// Those of them that the daemon does not accept, and why.
    var refusedKeys: [String]
    var refusal: String?
    var usedBytes: Int
    var limitBytes: Int
    var usedKeys: Int
    var limitKeys: Int
    var replica: String
    var directory: String
    var recoveryNotes: [String]
    /// Quarantined files in the replica's directory.
    var damagedFiles: [String]

    func lines(now: Date) -> [String] {
        var rows = [("store", store)]
        if let account, let device, let deviceID, let daemon {
            rows += [("account", account), ("device", "\(device) (\(deviceID))"), ("daemon", daemon)]
        }
        rows.append(("connection", connection))
        if joined {
            let age = lastSync.map { DurationFormatter.age(of: $0, at: now) }
            rows += [("last sync", age ?? "never"), ("pending", pendingKeys.keys)]
        }
        if !refusedKeys.isEmpty {
            rows.append(("refused", refusedKeys.counted + "; " + (refusal ?? "the store has no room for more")))
        }
        rows += [
            ("space", "\(usedBytes) of \(limitBytes) bytes"),
            ("keys", "\(usedKeys) of \(limitKeys)"),
            ("replica", "\(replica) in \(directory)"),
        ]
        rows += recoveryNotes.map { ("repaired", $0) }
        rows += damagedFiles.map { ("damaged", "\($0); inspect it, then remove it") }
        var table = TextTable(columns: [.init(""), .init("")])
        for (name, value) in rows { table.append([name, value]) }
        return table.lines()
    }
}

extension StatusReport {
    /// - Parameter connection: "reachable", or why the daemon was not reached.
    init(
        of store: UbiquitousKeyValueStore, credentials: Credentials?, connection: String, problem: String?
    ) throws(StoreError) {
        let (configuration, status) = (store.configuration, store.status)
        self.init(
            store: configuration.storeName, joined: credentials != nil, daemon: credentials?.daemon.description,
            account: credentials?.account, device: credentials?.deviceName, deviceID: credentials?.deviceID,
            connection: connection, problem: problem, initialSyncCompleted: status.initialSyncCompleted,
            lastSync: status.lastSyncMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000) },
            pendingKeys: status.pendingKeyCount, refusedKeys: status.refusedKeys, refusal: status.refusal,
            usedBytes: status.usedByteCount, limitBytes: status.limits.totalByteCount, usedKeys: status.usedKeyCount,
            limitKeys: status.limits.keyCount, replica: status.replica.description, directory: configuration.directory,
            recoveryNotes: status.recoveryNotes, damagedFiles: try configuration.quarantinedFiles())
    }
}

extension JSONEncoder.DateEncodingStrategy {
    /// ISO 8601 in UTC, with milliseconds if there are any.
    static var exact: Self { .custom { try DateFormat.text($0).encode(to: $1) } }
}
