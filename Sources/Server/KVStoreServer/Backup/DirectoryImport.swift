import Essentials
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
        let former = try directory.deviceFile.file.locked { () throws(ServerError) in
            pairings = try prepare(write)
            try commit()
            return try ServerError.wrapping { () throws(FileError) in
                try exchange.commit()
                return try exchange.finish()
            }
        }
        try directory.deviceFile.changePairings(.account("")) { table, _ in table = pairings }
        try directory.moveFile.remove()
        return former
    }

    private func prepare(
        _ write: (FileLogStorage) throws(ServerError) -> (DeviceTable, PairingTable)
    ) throws(ServerError) -> PairingTable {
        let root = exchange.preparation
        let log = root + "/log"
        let storage = try ServerError.wrapping { () throws(FileError) in
            if try FileStatus(path: root) != nil { try LocalDirectory(root).removeAll() }
            try LocalDirectory(root + "/former/log").create()
            if let present = try directory.deviceFile.file.read(byteLimit: .max) {
                try LocalFile(root + "/former/devices.json").replace(with: present.data)
            }
            return try FileLogStorage(directory: log)
        }
        let (devices, pairings) = try write(storage)
        let json = devices.json
        _ = try DeviceTable(json: json, path: "the devices of the database", isLimited: false)
        try directory.deviceFile.checkLimits(devices)
        try ServerError.wrapping { () throws(FileError) in
            try LocalFile(root + "/devices.json").replace(with: json)
            try LocalFile(log + "/lock").remove()
            for path in [root + "/former", root] { try LocalDirectory(path).flush() }
        }
        return pairings
    }
}
