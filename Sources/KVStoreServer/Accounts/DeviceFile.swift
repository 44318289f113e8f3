import Essentials
import KVStoreCore
import LocalFiles

/// devices.json of a data directory; one process at a time changes it. Calls block.
package struct DeviceFile: Sendable {
    let file: LocalFile
    /// How the file is read; tests inject faults.
    var readContent: @Sendable (LocalFile) throws(FileError) -> LocalFile.Content? = {
        file throws(FileError) in try file.read(byteLimit: DeviceTable.byteCount)
    }

    init(dataDirectory: String) { file = LocalFile(dataDirectory + "/devices.json") }

    /// The devices; empty without a file.
    package var devices: [Device] {
        get throws(ServerError) { try read()?.table.devices ?? [] }
    }

    /// Nil without a file.
    func read() throws(ServerError) -> (table: DeviceTable, status: FileStatus)? {
        guard let content = try wrap({ () throws(FileError) in try readContent(file) }) else {
            return nil
        }
        return (try DeviceTable(json: content.data, path: file.path), content.status)
    }

    /// Reads the table, changes it and replaces the file, under a lock against other processes.
    package func change<Result>(
        _ body: (inout DeviceTable) throws(ServerError) -> Result
    ) throws(ServerError) -> Result {
        let lock = try wrap { () throws(FileError) in
            let lock = try FileLock(file.path + ".lock")
            try lock.lock()
            return lock
        }
        return try withExtendedLifetime(lock) { () throws(ServerError) in
            var table = try read()?.table ?? DeviceTable(instance: Self.newID())
            let result = try body(&table)
            try wrap { () throws(FileError) in try file.replace(with: table.json) }
            return result
        }
    }

    /// Adds a device with a new token.
    package func add(
        _ name: String, account: String, isReadOnly: Bool, stores: [String]?
    ) throws(ServerError) -> (device: Device, token: String) {
        var random = SystemRandomNumberGenerator()
        let token = DeviceToken(using: &random)
        let device = Device(
            id: Self.newID(), name: name, account: account,
            scopes: isReadOnly ? [.read] : DeviceScope.allCases, stores: stores,
            created: ServerClock.wallMilliseconds(), tokenSHA256: token.digest)
        try change { table throws(ServerError) in try table.add(device) }
        return (device, token.text)
    }

    private static func newID() -> String {
        EpochID(rawValue: .random(in: 1 ... .max)).description
    }

    private func wrap<Result>(
        _ body: () throws(FileError) -> Result
    ) throws(ServerError) -> Result {
        do throws(FileError) { return try body() } catch {
            throw ServerError(.storage, error.description)
        }
    }
}
