import Foundation

/// The names in one folder.
enum FolderListing {
    struct Entry: Sendable, Hashable {
        var name: String
        /// True for a plain file, which need not be looked at when its name does not matter.
        var isSurelyFile: Bool
    }

    /// Up to `count` entries in no order, and whether there were more.
    static func entries(
        of path: String, upTo count: Int
    ) throws(FileTrouble) -> (entries: [Entry], hasMore: Bool) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileTrouble(code: errno) }
        guard let stream = fdopendir(descriptor) else {
            let code = errno
            close(descriptor)
            throw FileTrouble(code: code)
        }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name != ".", name != ".." else { continue }
            guard entries.count < count else { return (entries, true) }
            entries.append(
                Entry(name: name, isSurelyFile: Int32(entry.pointee.d_type) == Int32(DT_REG)))
        }
        return (entries, false)
    }
}
