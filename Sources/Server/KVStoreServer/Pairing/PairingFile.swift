import Essentials
import KVStoreWire
import LocalFiles

/// pairings.json of a data directory; one process at a time changes it. It contains only digests of codes. Calls block.
package struct PairingFile: Sendable {
    let file: LocalFile

    init(dataDirectory: String) { file = LocalFile(dataDirectory + "/pairings.json") }

    /// Reads the table, changes it and replaces the file if it has changed, under a lock against other processes.
    func change<Result>(_ body: (inout PairingTable) throws(ServerError) -> Result) throws(ServerError) -> Result {
        try file.locked { () throws(ServerError) in
            let former: PairingTable =
                try file.document(
                    byteLimit: PairingTable.byteCount,
                    ifUnreadable: "remove it, and run 'kvsd pair' again for devices that have not joined")
                ?? PairingTable()
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
}
