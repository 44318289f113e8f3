import Essentials
import KVStoreWire
import LocalFiles

/// moved.json of a data directory: its data is in a database now, and what the directory has of it is of no use.
package struct MoveFile: Sendable {
    package struct Move: Codable, Sendable, Equatable {
        /// The address without a password.
        package var database: String
        /// Milliseconds since 1970.
        package var time: Int64

        package init(database: String) {
            self.database = database
            time = ServerClock.wallMilliseconds()
        }
    }

    private let file: LocalFile

    package var path: String { file.path }

    init(dataDirectory: String) { file = LocalFile(dataDirectory + "/moved.json") }

    /// Nil if the data is here.
    package func read() throws(ServerError) -> Move? { try file.document(byteLimit: 65_536) }

    package func write(_ move: Move) throws(ServerError) {
        let json = WireJSON.encode(move) + Data("\n".utf8)
        try ServerError.wrapping { () throws(FileError) in try file.replace(with: json) }
    }

    package func remove() throws(ServerError) {
        try ServerError.wrapping { () throws(FileError) in
            if try FileStatus(path: path) != nil { try file.remove() }
        }
    }
}

extension DataDirectory {
    package var moveFile: MoveFile { MoveFile(dataDirectory: path) }
}
