import Essentials
import KVStoreLedger
package import KVStoreLog
import LocalFiles

/// A data directory that gets the data of a database. It stays locked while this exists.
package struct DirectoryImport {
    private let directory: DataDirectory
    private let exchange: PreparedRestore
    private let storage: FileLogStorage

    /// Locks the directory, which is created if it is missing, and marks its data as moved until `perform` has
    /// returned.
    ///
    /// - Throws: `inUse` when a server uses the directory, `cannotCreate` if it has data that has not been moved.
    package init(into directory: DataDirectory, from move: MoveFile.Move) throws(ServerError) {
        try directory.create()
        try directory.checkOwner()
        storage = try directory.lockedStorage()
        self.directory = directory
        exchange = PreparedRestore(directory: directory)
        let storage = storage
        let segments = try ServerError.wrapping { () throws(FileError) in try storage.segments() }
        let devices = try directory.deviceFile.devices
        guard try directory.moveFile.read() != nil || segments.isEmpty && devices.isEmpty else {
            throw ServerError(
                .cannotCreate, "\(directory.path) already has data",
                hint: "name an empty directory with --data; nothing was changed")
        }
        try directory.moveFile.write(move)
    }

    /// Puts a log and devices in place, durably; returns the directory with what was replaced, nil if there was
    /// nothing.
    ///
    /// - Parameters:
    ///   - write: is called with an empty storage, before anything is replaced; returns the devices and codes.
    ///   - commit: is called when everything is prepared durably. If it throws, nothing is replaced.
    package func perform(
        write: (FileLogStorage) throws(ServerError) -> (DeviceTable, PairingTable),
        commit: () throws(ServerError) -> Void
    ) throws(ServerError) -> String? {
        var pairings = PairingTable()
        let former = try exchange.perform { storage throws(ServerError) in
            let devices: DeviceTable
            (devices, pairings) = try write(storage)
            _ = try DeviceTable(json: devices.json, path: "the devices of the database", isLimited: false)
            try directory.deviceFile.checkLimits(devices)
            return [AttachedFile(name: "devices.json", content: devices.json)]
        } commit: { () throws(ServerError) in
            try commit()
        }
        try directory.deviceFile.changePairings(.account("")) { table, _ in table = pairings }
        try directory.moveFile.remove()
        return former
    }
}
