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

    /// How the file is replaced; tests inject faults.
    var writeContent: @Sendable (LocalFile, Data) throws(FileError) -> Void = {
        file, data throws(FileError) in try file.replace(with: data)
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
                try write(table.json)
            }
            return result
        }
    }

    /// On a full disk, uses the space of the reserve: a lost device must not stay because of it.
    private func write(_ json: Data) throws(ServerError) {
        try file.checkSize(json, limit: DeviceTable.byteCount)
        try ServerError.wrapping { () throws(FileError) in
            do throws(FileError) { try writeContent(file, json) } catch {
                guard error.isOutOfSpace, (try? FileStatus(path: reserve.path)) != nil else {
                    throw error
                }
                try reserve.remove()
                try writeContent(file, json)
            }
        }
        keepReserve(byteCount: 2 * json.count)
    }

    /// Space for the file while the disk is full.
    private var reserve: LocalFile { LocalFile(file.path + ".reserve") }

    private func keepReserve(byteCount: Int) {
        let byteCount = max(65_536, byteCount)
        let present = (try? FileStatus(path: reserve.path))??.byteCount ?? 0
        guard present < byteCount else { return }
        var random = SystemRandomNumberGenerator()
        // Random, so that no file system stores it in less space.
        let content = (0..<byteCount / 8).map { _ in random.next() }
        // Later changes try again.
        try? reserve.replace(
            with: content.withUnsafeBytes { Data($0) } + Data(count: 8), durability: .cached)
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
