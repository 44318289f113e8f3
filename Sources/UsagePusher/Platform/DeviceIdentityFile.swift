public import Foundation

/// The file that keeps a device's id: the UUID and a line feed, mode 0600.
public struct DeviceIdentityFile: Sendable {
    public let path: String

    /// `device-id` in the folder, which is made (mode 0700) where it is missing.
    public init(dataDirectory: String) {
        path =
            dataDirectory.hasSuffix("/")
            ? dataDirectory + "device-id" : dataDirectory + "/device-id"
    }

    public enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The file is there and holds no UUID.
        case notAnIdentity(path: String)
        case cannotRead(path: String, reason: String)
        case cannotWrite(path: String, reason: String)

        public var description: String {
            switch self {
            case .notAnIdentity(let path):
                "\(path) holds no device id; remove it and a new one is made"
                    + " (viewers then show this machine as a new device)"
            case .cannotRead(let path, let reason): "cannot read \(path): \(reason)"
            case .cannotWrite(let path, let reason): "cannot write \(path): \(reason)"
            }
        }
    }

    /// The id; nil when there is no file yet.
    public func read() throws(Failure) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .cannotRead(path: path, reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = bytes.withUnsafeMutableBytes {
            Foundation.read(descriptor, $0.baseAddress, $0.count)
        }
        guard count >= 0 else {
            throw .cannotRead(path: path, reason: String(cString: strerror(errno)))
        }
        guard let id = DeviceIdentity.id(in: String(decoding: bytes[..<count], as: UTF8.self))
        else { throw .notAnIdentity(path: path) }
        return id
    }

    /// The id, made from `candidate` when there is none. Of several processes that come first at
    /// the same time one wins, and all get its id.
    public func readOrCreate(candidate: UUID = UUID()) throws(Failure) -> String {
        if let id = try read() { return id }
        try create(candidate.uuidString.lowercased())
        guard let id = try read() else {
            throw .cannotRead(path: path, reason: "it was removed a moment ago")
        }
        return id
    }

    /// Writes a file beside and links it to its name, which fails where the name is taken: the
    /// name never stands for a file that is not whole.
    private func create(_ id: String) throws(Failure) {
        let folder = (path as NSString).deletingLastPathComponent
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw .cannotWrite(path: folder, reason: error.localizedDescription)
        }
        let temporary = "\(path).\(UUID().uuidString).new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw writeFailure(temporary) }
        defer { unlink(temporary) }
        let bytes = Array((id + "\n").utf8)
        let isWritten =
            write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        let failure = writeFailure(temporary)
        guard close(descriptor) == 0, isWritten else { throw failure }
        guard link(temporary, path) == 0 || errno == EEXIST else { throw writeFailure(path) }
    }

    private func writeFailure(_ path: String) -> Failure {
        .cannotWrite(path: path, reason: String(cString: strerror(errno)))
    }
}
