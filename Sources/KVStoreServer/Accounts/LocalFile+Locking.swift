import LocalFiles

extension LocalFile {
    /// Runs `body` while no other process or thread is in the same call for this file. Blocks until then.
    func locked<Result>(
        _ body: () throws(ServerError) -> Result
    ) throws(ServerError) -> Result {
        let lock = try ServerError.wrapping { () throws(FileError) in
            let lock = try FileLock(path + ".lock")
            try lock.lock()
            return lock
        }
        return try withExtendedLifetime(lock, body)
    }
}

extension ServerError {
    /// Runs `body` and rethrows its error as `storage`.
    static func wrapping<Result>(
        _ body: () throws(FileError) -> Result
    ) throws(ServerError) -> Result {
        do throws(FileError) { return try body() } catch {
            throw ServerError(.storage, error.description)
        }
    }
}
