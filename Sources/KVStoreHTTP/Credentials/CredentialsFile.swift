import Foundation

/// The file with this user's credentials, readable by nobody else.
public struct CredentialsFile: Sendable, Equatable {
    public let path: String

    public init(path: String) { self.path = path }

    public enum Failure: Error, Sendable, Equatable {
        /// Others may read or change the file; the mode is the one it has.
        case exposed(path: String, mode: Int)
        case unusable(path: String, CredentialsProblem)
        /// The system refused; the text is its own.
        case system(operation: String, path: String, code: Int32, message: String)
    }

    public var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// Nil where there is no file: no account has been joined.
    public func read() throws(Failure) -> Credentials? {
        guard
            let content = try PrivateFile.read(
                path, byteCount: HTTPLimits.credentialsByteCount)
        else { return nil }
        guard content.mode & 0o077 == 0 else { throw .exposed(path: path, mode: content.mode) }
        do throws(CredentialsProblem) {
            return try CredentialsCodec.decode(content.data)
        } catch {
            throw .unusable(path: path, error)
        }
    }

    /// Puts the file in place whole, with mode 0600, in a folder that is made with mode 0700.
    public func write(_ credentials: Credentials) throws(Failure) {
        let data: Data
        do {
            data = try CredentialsCodec.encode(credentials)
        } catch {
            throw .unusable(path: path, .document("\(error)"))
        }
        try PrivateFile.write(data, to: path)
    }

    /// Removes the file; nothing happens where there is none.
    public func remove() throws(Failure) { try PrivateFile.remove(path) }
}

extension CredentialsFile.Failure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .exposed(let path, let mode):
            "\(path) has mode \(String(mode, radix: 8)): others may use the token in it "
                + "(run: chmod 600 \(path))"
        case .unusable(let path, let problem):
            "\(path): \(problem) (run kvs join again)"
        case .system(let operation, let path, _, let message):
            "\(operation) \(path): \(message)"
        }
    }
}
