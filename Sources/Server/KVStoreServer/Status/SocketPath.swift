import Essentials

/// A name for a Unix domain socket that the system accepts: its path, or if that is too long a way to it through a link
/// in the temporary directory, which is removed with the last reference.
final class SocketPath: Sendable {
    let path: String
    private let link: URL?

    init(_ socket: String) throws {
        // With a byte for the end.
        guard socket.utf8.count >= MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            path = socket
            link = nil
            return
        }
        let url = URL(filePath: socket)
        let link = FileManager.default.temporaryDirectory.appending(path: "kvsd-\(UUID())")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url.deletingLastPathComponent())
        self.link = link
        path = link.appending(path: url.lastPathComponent).path(percentEncoded: false)
    }

    deinit { if let link { try? FileManager.default.removeItem(at: link) } }  // only the space of a link is lost
}
