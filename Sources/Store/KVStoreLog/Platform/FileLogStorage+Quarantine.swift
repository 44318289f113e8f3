import Essentials
package import LocalFiles

extension FileLogStorage {
    private static let mark = ".damaged-"

    /// Copies the segment's present bytes: opening may still cut a torn tail in it, and other processes may append to
    /// it. Runs under the lock, so a free name stays free.
    package func quarantine(segment: UInt64) throws(FileError) -> String {
        let name = Self.name(of: segment)
        let taken = Set(try names())
        guard
            let aside = (1...1_000).lazy.map({ "\(name)\(Self.mark)\($0)" }).first(where: { !taken.contains($0) })
        else {
            throw FileError(operation: "quarantine", path: path(segment: segment), code: EEXIST)
        }
        let temporary = name + ".damaged.new"
        do throws(FileError) {
            try copy(segment, to: temporary)
            guard renameat(directory.raw, temporary, directory.raw, aside) == 0 else {
                throw .current("rename", path: root + "/" + temporary)
            }
        } catch {
            unlinkat(directory.raw, temporary, 0)
            throw error
        }
        try syncNames()
        return root + "/" + aside
    }

    private func copy(_ segment: UInt64, to name: String) throws(FileError) {
        let source = try Descriptor(opening: Self.name(of: segment), in: directory, root: root, flags: O_RDONLY)
        let from = try FileLogFile(source)
        // A process may have been killed while copying.
        unlinkat(directory.raw, name, 0)
        let to = try FileLogFile(
            try Descriptor(opening: name, in: directory, root: root, flags: O_RDWR | O_CREAT | O_EXCL))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { buffer.deallocate() }
        var place = 0
        while true {
            let count = try from.read(into: buffer, at: place)
            if count == 0 { break }
            try to.write(UnsafeRawBufferPointer(rebasing: buffer[0..<count]), at: place)
            place += count
        }
        try to.sync()
    }

    /// The paths of all quarantined files in a directory; none if the directory is missing. Creates nothing and takes
    /// no lock.
    package static func quarantinedFiles(in directory: String) throws(FileError) -> [String] {
        do throws(FileError) {
            return try LocalDirectory(directory).entries().entries.map(\.name)
                .filter { $0.contains(".log" + mark) }.sorted().map { directory + "/" + $0 }
        } catch  where error.isMissing {
            return []
        }
    }
}
