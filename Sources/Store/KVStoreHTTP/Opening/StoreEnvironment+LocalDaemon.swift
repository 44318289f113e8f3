public import KVStoreEssentials
import KVStoreWire
import LocalFiles

extension StoreEnvironment {
    /// The line with which this user joins the user's own daemon on this machine; nil if none is running. Blocks.
    ///
    /// - Throws: `unauthorized` for a directory or file that other users may access; `storage` for a file that cannot
    ///   be read.
    public func localDaemon() throws(StoreError) -> PairingLine? {
        let directory = dataDirectory + "/kvsd"
        let path = directory + "/" + DaemonStatus.fileName
        func failure(_ code: StoreError.Code, _ reason: String, _ hint: String?) -> StoreError {
            StoreError(code, operation: "find kvsd on this machine", subject: path, reason: reason, hint: hint)
        }
        let found: (directory: FileStatus, content: LocalFile.Content)
        do throws(FileError) {
            guard let status = try FileStatus(path: directory),
                let content = try LocalFile(path).read(byteLimit: DaemonStatus.byteCount)
            else { return nil }
            found = (status, content)
        } catch {
            throw failure(.storage, error.message, nil)
        }
        guard (found.directory.permissions | found.content.status.permissions) & 0o077 == 0 else {
            throw failure(.unauthorized, "other users may access it", "run chmod 700 \(directory)")
        }
        // Not a daemon of this version.
        guard let daemon = try? WireJSON.decode(DaemonStatus.self, from: found.content.data),
            daemon.isRunning
        else { return nil }
        return daemon.line
    }
}
