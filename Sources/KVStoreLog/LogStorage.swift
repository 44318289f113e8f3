/// Where a log's bytes live: numbered segment files in one directory, and one lock for appenders.
///
/// The product's storage is files; a simulator supplies memory with faults. The calls are few so that a
/// fault can be aimed at any of them. All of them block. Each throws `StorageFailure` and then has
/// had either its whole effect or, where its promise says so, an unknown part of it.
package protocol LogStorage: AnyObject, Sendable {
    /// The numbers of all segments, ascending.
    func segments() throws(StorageFailure) -> [UInt64]

    /// Opens a segment for reading and writing; nil when there is no such segment.
    func open(segment: UInt64) throws(StorageFailure) -> (any LogFile)?

    /// Creates a segment of `byteCount` bytes that starts with `content`, and is zero behind it. On return content,
    /// size and name are on disk. When it throws there is no such segment, or it is there as a whole.
    func create(
        segment: UInt64, content: [UInt8], byteCount: Int
    ) throws(StorageFailure) -> any LogFile

    /// Removes a segment. Processes that have it open can still read it.
    func remove(segment: UInt64) throws(StorageFailure)

    /// On return the names of all segments are on disk: one that another process has created may not be.
    func syncNames() throws(StorageFailure)

    /// Copies a damaged segment under another name, for a person to look at; returns its path.
    func setAside(segment: UInt64) throws(StorageFailure) -> String

    /// Takes the appenders' lock, waiting for other processes; not recursive.
    func lock() throws(StorageFailure)
    func unlock()

    /// Takes the lock if nobody holds it; false when another process does.
    func lockIfFree() throws(StorageFailure) -> Bool

    /// A number that a copy of the storage, or one that was put back from a backup, does not have.
    var identity: UInt64 { get }

    /// What to call a segment in an error.
    func path(segment: UInt64) -> String
}

/// One open segment. Calls may come from any thread.
package protocol LogFile: AnyObject, Sendable {
    var byteCount: Int { get }

    /// Reads up to `buffer.count` bytes; fewer only at the end of the file.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(StorageFailure) -> Int

    /// Writes all bytes. When it throws, any part of them may have been written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StorageFailure)

    /// On return everything written before the call is on disk. When it throws, what has been
    /// written since the last successful call is unknown, and stays unknown: a second call proves nothing.
    func sync() throws(StorageFailure)
}

extension LogFile {
    func write(_ bytes: [UInt8], at offset: Int) throws(StorageFailure) {
        try bytes.withUnsafeBufferPointer { buffer throws(StorageFailure) in
            try write(UnsafeRawBufferPointer(buffer), at: offset)
        }
    }
}

/// A call to the system that failed.
package struct StorageFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// "write", "sync", "create", …
    package var operation: String
    package var path: String
    /// The system's error number.
    package var code: Int32
    package var message: String
    /// Whether space, quota or inodes have run out: the same call may work later.
    package var isOutOfSpace: Bool

    package init(
        operation: String, path: String, code: Int32, message: String, isOutOfSpace: Bool = false
    ) {
        self.operation = operation
        self.path = path
        self.code = code
        self.message = message
        self.isOutOfSpace = isOutOfSpace
    }

    package var description: String { "\(operation) \(path): \(message)" }
}
