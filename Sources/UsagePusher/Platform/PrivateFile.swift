import Foundation

/// Writes small files that only their owner may read, whole or not at all.
enum PrivateFile {
    /// Writes beside `path` and renames over it. Folders that are missing are made (mode 0700).
    /// After an error the old file is as it was.
    static func replace(_ path: String, with bytes: Data) throws(FileTrouble) {
        let folder = (path as NSString).deletingLastPathComponent
        try makeFolder(folder)
        let temporary = "\(folder)/.\(UInt64.random(in: .min ... .max)).tmp"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = open(temporary, flags, 0o600)
        guard descriptor >= 0 else { throw FileTrouble(code: errno) }
        var code = write(bytes, to: descriptor)
        if close(descriptor) != 0, code == 0 { code = errno }
        if code == 0, rename(temporary, path) != 0 { code = errno }
        guard code == 0 else {
            unlink(temporary)
            throw FileTrouble(code: code)
        }
    }

    /// Removes a file; one that is gone already is no trouble.
    static func remove(_ path: String) {
        unlink(path)
    }

    private static func makeFolder(_ path: String) throws(FileTrouble) {
        var status = stat()
        if stat(path, &status) == 0 {
            guard FileFacts(status).kind == .folder else { throw .wrongKind }
            return
        }
        guard errno == ENOENT, path.count > 1 else { throw FileTrouble(code: errno) }
        try makeFolder((path as NSString).deletingLastPathComponent)
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw FileTrouble(code: errno) }
    }

    /// An errno, or 0.
    private static func write(_ bytes: Data, to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { buffer in
            var written = 0
            while written < buffer.count {
                let count = Foundation.write(
                    descriptor, buffer.baseAddress! + written, buffer.count - written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return errno }
                written += count
            }
            return 0
        }
    }
}
