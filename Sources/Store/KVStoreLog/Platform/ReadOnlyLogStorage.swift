import Essentials
package import LocalFiles

/// The segments of a log as they are at one time, for reading only. Another process may write the log meanwhile.
///
/// The segments stay open, so that one which compaction removes can still be read. Nothing on the disk changes.
package final class ReadOnlyLogStorage: LogStorage {
    private let root: String
    private let files: [UInt64: FileLogFile]
    /// Holds a shared lock, which a daemon that starts meanwhile respects.
    private let lockFile: Descriptor?
    /// Whether another process holds the log's lock.
    package let isInUse: Bool
    package let identity: UInt64 = 0

    package init(directory path: String) throws(FileError) {
        root = path
        let directory = try Descriptor(opening: path, flags: O_RDONLY | O_DIRECTORY)
        do throws(FileError) {
            lockFile = try Descriptor(opening: "lock", in: directory, root: path, flags: O_RDONLY)
        } catch  where error.isMissing {
            lockFile = nil
        }
        isInUse = lockFile.map { flock($0.raw, LOCK_SH | LOCK_NB) != 0 } ?? false
        files = try Self.open(directory, root: path)
    }

    /// Segments are removed oldest first, and only after what was live in them is in later ones. So while the oldest
    /// one stays, a list that begins with it lacks none but the newest.
    private static func open(_ directory: Descriptor, root: String) throws(FileError) -> [UInt64: FileLogFile] {
        for attempt in 0..<100 {
            let first = try FileLogStorage.segments(in: directory, root: root).first
            let found = try FileLogStorage.segments(in: directory, root: root)
            guard found.first == first else { continue }
            // A list made while a segment is created may lack it and have its successor.
            let isWhole = zip(found, found.dropFirst()).allSatisfy { $0 + 1 == $1 }
            guard isWhole || attempt > 10 else { continue }
            do throws(FileError) {
                var files: [UInt64: FileLogFile] = [:]
                for number in found {
                    files[number] = try FileLogFile(
                        Descriptor(opening: FileLogStorage.name(of: number), in: directory, root: root, flags: O_RDONLY)
                    )
                }
                return files
            } catch  where error.isMissing {
                continue
            }
        }
        throw FileError(operation: "read all segments of", path: root, code: EAGAIN)
    }

    package func segments() -> [UInt64] { files.keys.sorted() }

    package func open(segment: UInt64) -> (any LogFile)? { files[segment] }

    package func path(segment: UInt64) -> String { root + "/" + FileLogStorage.name(of: segment) }

    package func create(segment: UInt64, content: [UInt8], byteCount: Int) throws(FileError) -> any LogFile {
        throw refusal("create", segment)
    }

    package func remove(segment: UInt64) throws(FileError) { throw refusal("remove", segment) }

    package func quarantine(segment: UInt64) throws(FileError) -> String {
        throw refusal("quarantine", segment)
    }

    private func refusal(_ operation: String, _ segment: UInt64) -> FileError {
        FileError(operation: operation, path: path(segment: segment), code: EROFS)
    }

    package func syncNames() {}
    package func lock() {}
    package func unlock() {}
    package func lockIfFree() -> Bool { !isInUse }
}
