import Essentials
public import KVStoreEssentials
import KVStoreWire
import LocalFiles

/// The file with this user's credentials. Only its owner may have access. Calls block; any thread may make them.
///
/// One line of JSON: `version` 1, `daemon`, `token`, `account`, `deviceID`, `deviceName`, `key` with the
/// fingerprint of a pinned key, and `insecure` where plain text is allowed. Unknown fields are ignored.
///
/// ```swift
/// let credentials = try environment.credentialsFile.read()     // nil: no account has been joined
/// ```
public struct CredentialsFile: Sendable, Equatable {
    public var path: String { file.path }
    private let file: LocalFile

    public init(path: String) { file = LocalFile(path) }

    private struct Document: Codable {
        var version: Int
        var daemon: String
        var token: String
        var account: String
        var deviceID: String
        var deviceName: String
        var key: String?
        var insecure: Bool?
    }

    /// Nil without a file: no account has been joined.
    ///
    /// - Throws: `unauthorized` for a file that other users may access, or that does not contain valid credentials;
    ///   `storage` for a file that cannot be read.
    public func read() throws(StoreError) -> Credentials? {
        do {
            guard let content = try file.read(byteLimit: HTTPLimits.credentialsByteCount) else {
                return nil
            }
            let mode = content.status.permissions
            guard mode & 0o077 == 0 else {
                throw error(
                    .unauthorized, "read",
                    "the file has mode \(String(mode, radix: 8)), so other users "
                        + "may access the token", hint: "run chmod 600 \(path)")
            }
            return try credentials(WireJSON.decode(from: content.data))
        } catch let error as StoreError {
            throw error
        } catch let failure as FileError {
            throw error(.storage, "read", failure.message)
        } catch {
            throw self.error(.unauthorized, "read", "\(error)", hint: "run kvs join again")
        }
    }

    private func credentials(_ document: Document) throws(CredentialsError) -> Credentials {
        guard document.version == 1 else {
            throw CredentialsError("unsupported version \(document.version); expected 1")
        }
        guard let token = AccessToken(document.token) else {
            throw CredentialsError("token is invalid")
        }
        let key = document.key.map { KeyFingerprint($0) }
        if case .some(.none) = key { throw CredentialsError("key is invalid") }
        return try Credentials(
            daemon: DaemonAddress(document.daemon), token: token, key: key ?? nil, account: document.account,
            deviceID: document.deviceID, deviceName: document.deviceName, isPlainTextAllowed: document.insecure ?? false
        )
    }

    /// Replaces the file atomically, with mode 0600, in a directory that is created with mode 0700 if it is missing.
    public func write(_ credentials: Credentials) throws(StoreError) {
        try locked("write") { _ throws(FileError) in try replace(with: credentials) }
    }

    /// Changes the device's name, unless the file has the credentials of another device by now, or the name is invalid.
    package func renameDevice(of credentials: Credentials, to name: String) throws(StoreError) {
        guard let renamed = try? credentials.renamed(to: name) else { return }  // an invalid name is not taken over
        try locked("write") { _ throws(FileError) in
            // An unreadable file is left alone.
            guard let present = try? read(), present.isSameDevice(as: renamed), present != renamed else { return }
            try replace(with: renamed)
        }
    }

    private func replace(with credentials: Credentials) throws(FileError) {
        let document = Document(
            version: 1, daemon: credentials.daemon.description, token: credentials.token.secret,
            account: credentials.account, deviceID: credentials.deviceID, deviceName: credentials.deviceName,
            key: credentials.key?.description, insecure: credentials.isPlainTextAllowed ? true : nil)
        try file.replace(with: WireJSON.encode(document) + Data("\n".utf8))
    }

    /// Removes the file and its lock; does nothing without one.
    public func remove() throws(StoreError) {
        guard FileManager.default.fileExists(atPath: path) else { return }
        try locked("remove") { lock throws(FileError) in
            try file.remove()
            try lock.remove()
        }
    }

    /// Excludes other programs of this user that change the file.
    private func locked(_ verb: String, _ body: (FileLock) throws(FileError) -> Void) throws(StoreError) {
        do throws(FileError) {
            let lock = try file.lock()
            defer { lock.unlock() }
            try body(lock)
        } catch {
            throw self.error(error.isOutOfSpace ? .diskFull : .storage, verb, error.message)
        }
    }

    private func error(_ code: StoreError.Code, _ verb: String, _ reason: String, hint: String? = nil) -> StoreError {
        StoreError(code, operation: "\(verb) credentials", subject: path, reason: reason, hint: hint)
    }
}
