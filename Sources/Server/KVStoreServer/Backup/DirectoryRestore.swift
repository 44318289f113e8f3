package import Essentials
import KVStoreCore
package import KVStoreLedger
import KVStoreLog
import LocalFiles

/// A restore of a verified backup into a data directory, which stays locked while this exists.
package struct DirectoryRestore {
    /// What restoring replaces.
    package struct Present: Sendable, Equatable {
        package var storeCount = 0
        package var keyCount = 0
        /// When the log changed last; nil without segments.
        package var changed: Date?
        /// The first finding, if the log is damaged: it is kept aside like an intact one.
        package var damage: String?
    }

    package let backup: LedgerBackup
    package let present: Present
    package let deviceChange: DeviceListChange
    /// Whether there are records or devices to replace.
    package let replaces: Bool
    var exchange: PreparedRestore
    private let keepsDevices: Bool
    private let storage: FileLogStorage

    /// Locks the directory, which is created if it is missing. Changes nothing else.
    ///
    /// - Parameter keepsDevices: whether the present list of devices stays, if there is one.
    /// - Throws: `inUse` when a server uses the directory.
    package init(
        _ backup: LedgerBackup, into directory: DataDirectory, keepsDevices: Bool = false
    ) throws(ServerError) {
        try directory.create()
        storage = try directory.lockedStorage()
        self.backup = backup
        exchange = PreparedRestore(directory: directory)
        let devices = try? directory.deviceFile.read()?.table  // the restore replaces an unreadable list
        if keepsDevices, devices == nil {
            throw ServerError(
                .storage, "\(directory.path) has no readable devices.json to keep", hint: "leave out --keep-devices")
        }
        self.keepsDevices = keepsDevices
        let restored = keepsDevices ? nil : try backup.deviceTable
        if let restored { try directory.deviceFile.checkLimits(restored) }
        deviceChange = DeviceListChange(from: devices, to: restored)
        present = try Self.present(storage)
        replaces = present.changed != nil || devices?.devices.isEmpty == false
    }

    private static func present(_ storage: FileLogStorage) throws(ServerError) -> Present {
        var present = Present()
        let newest = try ServerError.wrapping { () throws(FileError) -> FileStatus? in
            guard let last = try storage.segments().last else { return nil }
            return try FileStatus(path: storage.path(segment: last))
        }
        present.changed = newest?.modificationDate
        do throws(LogError) {
            let found = try Ledger.inspect(storage)
            present.storeCount = found.stores.count
            present.keyCount = found.stores.reduce(0) { $0 + $1.hub.keyCount }
            present.damage = found.findings.first.map { LogError.damaged($0).description }
        } catch {
            present.damage = error.description
        }
        return present
    }

    /// Replaces log and files by those of the backup, as `PreparedRestore` does; returns the directory with what was
    /// replaced, nil if there was nothing.
    package func perform() throws(ServerError) -> String? {
        try exchange.perform { storage throws(ServerError) in
            try ServerError.wrapping { () throws(LogError) in
                try backup.restore(to: storage, seed: .random(in: 0 ... .max))
            }
            return backup.files.filter { !keepsDevices || $0.name != "devices.json" }
        }
    }
}
