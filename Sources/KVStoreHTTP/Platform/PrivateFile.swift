import Foundation

/// A small file that only its owner may read.
enum PrivateFile {
    struct Content {
        var data: Data
        /// The permission bits.
        var mode: Int
    }

    /// Nil where there is no file. Mode and bytes come from the same open file.
    static func read(
        _ path: String, byteCount limit: Int
    ) throws(CredentialsFile.Failure) -> Content? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .current("open", path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .current("look at", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .unusable(path: path, .document("not a regular file"))
        }
        guard status.st_size <= limit else {
            throw .unusable(path: path, .document("larger than \(limit) bytes"))
        }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while data.count <= limit {
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            if count == 0 { break }
            if count > 0 {
                data.append(contentsOf: buffer[..<count])
            } else if errno != EINTR {
                throw .current("read", path)
            }
        }
        return Content(data: data, mode: Int(status.st_mode & 0o777))
    }

    /// Through a temporary file beside it, so that a reader sees the former file or the new one.
    static func write(_ data: Data, to path: String) throws(CredentialsFile.Failure) {
        let folder = (path as NSString).deletingLastPathComponent
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw .system(
                operation: "make the folder", path: folder, code: EIO,
                message: error.localizedDescription)
        }
        let temporary = "\(path).\(UInt32.random(in: 0...UInt32.max)).new"
        let descriptor = open(
            temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .current("create", temporary) }
        do throws(CredentialsFile.Failure) {
            defer { close(descriptor) }
            // A umask can only take away; an odd one must not leave the owner without.
            guard fchmod(descriptor, 0o600) == 0 else { throw .current("protect", temporary) }
            try writeAll(data, descriptor, temporary)
            guard fsync(descriptor) == 0 else { throw .current("write", temporary) }
            guard rename(temporary, path) == 0 else { throw .current("put in place", path) }
        } catch {
            unlink(temporary)
            throw error
        }
        syncFolder(folder)
    }

    static func remove(_ path: String) throws(CredentialsFile.Failure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .current("remove", path) }
        syncFolder((path as NSString).deletingLastPathComponent)
    }

    private static func writeAll(
        _ data: Data, _ descriptor: Int32, _ path: String
    ) throws(CredentialsFile.Failure) {
        var rest = [UInt8](data)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw .current("write", path)
            }
        }
    }

    /// At worst a power failure brings the former state back, so a failure here is no error.
    private static func syncFolder(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        close(descriptor)
    }
}

extension CredentialsFile.Failure {
    fileprivate static func current(_ operation: String, _ path: String) -> Self {
        let code = errno
        return .system(
            operation: operation, path: path, code: code,
            message: String(cString: strerror(code)).lowercased())
    }
}
