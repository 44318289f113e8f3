import Essentials
import KVStoreWire
import LocalFiles

extension LocalFile {
    /// Runs `body` while no other process or thread is in the same call for this file. Blocks until then.
    func locked<Result>(_ body: () throws(ServerError) -> Result) throws(ServerError) -> Result {
        try checkOwner()
        let lock = try ServerError.wrapping { () throws(FileError) in try self.lock() }
        return try withExtendedLifetime(lock, body)
    }

    /// The JSON document in the file; nil without the file.
    func document<Document: Decodable>(
        byteLimit: Int, ifUnreadable hint: String? = nil
    ) throws(ServerError) -> Document? {
        let content = try ServerError.wrapping { () throws(FileError) in try read(byteLimit: byteLimit) }
        guard let content else { return nil }
        do throws(WireError) { return try WireJSON.decode(from: content.data) } catch {
            throw ServerError(.unreadable, "cannot read \(path): \(error)", hint: hint)
        }
    }

    /// Throws if the file's reader would refuse `data`.
    func checkSize(_ data: Data, limit: Int) throws(ServerError) {
        guard data.count > limit else { return }
        throw ServerError(
            .invalidDevice, "\(path) would have \(data.count) bytes, of at most \(limit)",
            hint: "remove devices or pairings that are not needed")
    }

    /// Throws if another user owns the file: that user's server could not read what replaces it.
    func checkOwner() throws(ServerError) {
        let status = try ServerError.wrapping { () throws(FileError) in
            try FileStatus(path: path)
        }
        guard let status, status.owner != geteuid() else { return }
        let owner = getpwuid(status.owner).map { String(cString: $0.pointee.pw_name) }
        throw ServerError(
            .cannotCreate, "\(path) belongs to the user \(owner ?? "\(status.owner)")",
            hint: "run the command as that user: sudo -u \(owner ?? "'#\(status.owner)'") kvsd …")
    }
}

extension ServerError {
    /// Runs `body` and rethrows its error as `storage`.
    static func wrapping<Result>(_ body: () throws(FileError) -> Result) throws(ServerError) -> Result {
        do throws(FileError) { return try body() } catch {
            throw ServerError(.storage, error.description)
        }
    }
}
