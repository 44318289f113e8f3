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

    package var hasDevices: Bool {
        get throws(ServerError) { try !devices.isEmpty }
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
        _ selection: DeviceSelection = .all, _ body: (inout DeviceTable) throws(ServerError) -> Result
    ) throws(ServerError) -> Result {
        try file.locked { () throws(ServerError) in
            let former = try read()?.table
            var table = former ?? DeviceTable(instance: DeviceTable.newID())
            let result = try body(&table)
            if table != former {
                try write(table.json)
            }
            return result
        }
    }

    /// Throws unless the file can have all devices and accounts of a table, which may be that of a database.
    func checkLimits(_ table: DeviceTable) throws(ServerError) {
        let accountCount = (table.accounts ?? []).count { $0.removed == nil }
        guard table.devices.count <= DeviceTable.deviceCount, accountCount <= DeviceTable.accountCount else {
            throw .invalidDevice(
                "\(table.devices.count) devices and \(accountCount) accounts; a data directory has at most "
                    + "\(DeviceTable.deviceCount) and \(DeviceTable.accountCount)",
                "nothing was changed; remove some first, or use a database")
        }
        try file.checkSize(table.json, limit: DeviceTable.byteCount)
    }

    /// On a full disk, uses the space of the reserve: a lost device must not stay because of it.
    private func write(_ json: Data) throws(ServerError) {
        try file.checkSize(json, limit: DeviceTable.byteCount)
        try ServerError.wrapping { () throws(FileError) in
            do throws(FileError) { try writeContent(file, json) } catch {
                // Then the first error is thrown.
                guard error.isOutOfSpace, (try? FileStatus(path: reserve.path)) != nil else { throw error }
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
        let present = (try? FileStatus(path: reserve.path))??.byteCount ?? 0  // then it is written again
        guard present < byteCount else { return }
        var random = SplitMix64(seed: .random(in: 0 ... .max))
        // Random, so that no file system stores it in less space.
        let content = (0..<byteCount / 8).map { _ in random.next() }
        // Later changes try again.
        try? reserve.replace(with: content.withUnsafeBytes { Data($0) } + Data(count: 8), durability: .cached)
    }
}

extension DeviceFile: DeviceStorage {
    package func table(_ selection: DeviceSelection) throws(ServerError) -> DeviceTable {
        try read()?.table ?? DeviceTable(instance: DeviceTable.newID())
    }

    package func changePairings<Result>(
        _ selection: PairingSelection,
        _ body: (
            inout PairingTable, (_ account: String) throws(ServerError) -> DeviceTable
        ) throws(ServerError) -> Result
    ) throws(ServerError) -> Result {
        try pairings.change { pairings throws(ServerError) in
            try body(&pairings) { _ throws(ServerError) in try table(.all) }
        }
    }

    package var removedAccount: Account? {
        get throws(ServerError) { try read()?.table.removedAccount }
    }

    /// One server at a time uses the directory.
    package func removeAccounts(_ body: (_ checkLock: () throws -> Void) throws -> Void) throws -> Bool {
        try body {}
        return true
    }
}
