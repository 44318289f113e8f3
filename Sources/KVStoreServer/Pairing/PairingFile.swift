import Essentials
package import KVStoreWire
import LocalFiles

/// pairings.json of a data directory; one process at a time changes it. It contains only digests of codes. Calls block.
package struct PairingFile: Sendable {
    let file: LocalFile

    init(dataDirectory: String) { file = LocalFile(dataDirectory + "/pairings.json") }

    /// Makes a code that adds one device within ten minutes.
    ///
    /// - Parameters:
    ///   - name: the device's name; nil if the device proposes it.
    ///   - maker: the id of the device that makes it; once that is no administrator any more, the code is void.
    ///   - now: milliseconds since 1970; nil for the system's clock.
    package func add(
        name: String?, _ permissions: DevicePermissions, maker: String? = nil,
        now: Int64? = nil
    ) throws(ServerError) -> PairingCode {
        let now = now ?? ServerClock.wallMilliseconds()
        var random = SystemRandomNumberGenerator()
        let code = PairingCode(using: &random)
        let pairing = Pairing(
            id: code.id, codeSHA256: TokenDigest(of: code.text), name: name, permissions,
            maker: maker, created: now)
        let devices = DeviceFile(dataDirectory: file.directory.path)
        try change { table throws(ServerError) in
            // Under the lock: the removal of the account removes its pairings after it has become visible.
            try devices.checkPresent(account: permissions.account)
            try table.add(pairing, now: now)
        }
        return code
    }

    /// Reads the table, changes it and replaces the file if it has changed, under a lock against other processes.
    func change<Result>(
        _ body: (inout PairingTable) throws(ServerError) -> Result
    ) throws(ServerError) -> Result {
        try file.locked { () throws(ServerError) in
            let former = try read()
            var table = former
            let result = try body(&table)
            if table != former {
                let json = WireJSON.encode(table) + Data("\n".utf8)
                try file.checkSize(json, limit: PairingTable.byteCount)
                try ServerError.wrapping { () throws(FileError) in try file.replace(with: json) }
            }
            return result
        }
    }

    private func read() throws(ServerError) -> PairingTable {
        let content = try ServerError.wrapping { () throws(FileError) in
            try file.read(byteLimit: PairingTable.byteCount)
        }
        guard let content else { return PairingTable() }
        do throws(WireError) {
            return try WireJSON.decode(from: content.data)
        } catch {
            throw ServerError(
                .unreadable, "cannot read \(file.path): \(error)",
                hint: "remove it, and run 'kvsd pair' again for devices that have not joined")
        }
    }
}
