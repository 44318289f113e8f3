import Essentials
package import KVStoreWire
import LocalFiles

/// daemon.json of a data directory, with mode 0600. Calls block.
package struct DaemonStatusFile: Sendable {
    private let file: LocalFile

    init(dataDirectory: String) { file = LocalFile(dataDirectory + "/" + DaemonStatus.fileName) }

    package func write(_ status: DaemonStatus) throws(ServerError) {
        let json = WireJSON.encode(status) + Data("\n".utf8)
        try ServerError.wrapping { () throws(FileError) in
            try file.replace(with: json, durability: .cached)
        }
    }

    /// The daemon that is running; nil without one.
    package func read() throws(ServerError) -> DaemonStatus? {
        let content = try ServerError.wrapping { () throws(FileError) in
            try file.read(byteLimit: DaemonStatus.byteCount)
        }
        guard let content,
            // An unreadable one is that of no daemon.
            let status = try? WireJSON.decode(DaemonStatus.self, from: content.data),
            status.isRunning
        else { return nil }
        return status
    }

    package func remove() { try? file.remove(durability: .cached) }  // whoever reads it checks the process
}
