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

    /// The pairings that add devices.
    var pairings: PairingFile { PairingFile(dataDirectory: file.directory.path) }

    /// The devices; empty without a file.
    package var devices: [Device] {
        get throws(ServerError) { try read()?.table.devices ?? [] }
    }

    /// Nil without a file.
    func read() throws(ServerError) -> (table: DeviceTable, status: FileStatus)? {
        let content = try ServerError.wrapping { () throws(FileError) in try readContent(file) }
        guard let content else { return nil }
        return (try DeviceTable(json: content.data, path: file.path), content.status)
    }

    /// Reads the table, changes it and replaces the file if it has changed or is missing, under a lock against other
    /// processes.
    package func change<Result>(
        _ body: (inout DeviceTable) throws(ServerError) -> Result
    ) throws(ServerError) -> Result {
        try file.locked { () throws(ServerError) in
            let former = try read()?.table
            var table = former ?? DeviceTable(instance: Self.newID())
            let result = try body(&table)
            if table != former {
                try file.replace(with: table.json, byteLimit: DeviceTable.byteCount)
            }
            return result
        }
    }

    /// Adds a device with a new token.
    ///
    /// - Parameters:
    ///   - isRenamed: whether the device gets another name if the account has one of this name.
    ///   - maker: the id of the device that permits it; it must still be an administrator.
    package func add(
        _ name: String, _ permissions: DevicePermissions, isRenamed: Bool = false,
        maker: String? = nil
    ) throws(ServerError) -> (device: Device, token: String) {
        var random = SystemRandomNumberGenerator()
        let token = DeviceToken(using: &random)
        var device = Device(
            name, permissions, id: Self.newID(), created: ServerClock.wallMilliseconds(),
            tokenSHA256: token.digest)
        try change { table throws(ServerError) in
            try table.checkPresent(account: device.account)
            if let maker, !table.isAdministrator(maker) {
                throw .invalidDevice("the device that made the code has been removed")
            }
            if isRenamed { device.name = table.freeName(name, account: device.account) }
            try table.add(device)
        }
        return (device, token.text)
    }

    /// Throws the error with which `add` would refuse the device.
    package func check(
        _ name: String, _ permissions: DevicePermissions, isRenamed: Bool = false
    ) throws(ServerError) {
        var table = try read()?.table ?? DeviceTable(instance: Self.newID())
        try table.checkPresent(account: permissions.account)
        try table.add(
            Device(
                isRenamed ? table.freeName(name, account: permissions.account) : name,
                permissions, id: Self.newID(), created: 0, tokenSHA256: TokenDigest(of: "")))
    }

    private static func newID() -> String {
        EpochID(rawValue: .random(in: 1 ... .max)).description
    }
}
