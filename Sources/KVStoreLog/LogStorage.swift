/// Where a log's bytes live: numbered segment files in one directory, and one lock for appenders.
///
/// In production these are files; a simulator supplies memory with fault injection. All calls block. A call that
/// throws `StorageFailure` had its whole effect or none, unless its contract says otherwise.
package protocol LogStorage: AnyObject, Sendable {
    /// The numbers of all segments, ascending.
    func segments() throws(StorageFailure) -> [UInt64]

    /// Opens a segment for reading and writing; nil when there is no such segment.
    func open(segment: UInt64) throws(StorageFailure) -> (any LogFile)?

    /// Creates a segment of `byteCount` bytes that starts with `content` and is zero after it. On return content,
    /// size and name are durable. When it throws, the segment does not exist or is complete.
    func create(
        segment: UInt64, content: [UInt8], byteCount: Int
    ) throws(StorageFailure) -> any LogFile

    /// Removes a segment. Processes that have it open can still read it.
    func remove(segment: UInt64) throws(StorageFailure)

    /// On return the names of all segments are durable; that of one which another process created may not have been.
    func syncNames() throws(StorageFailure)

    /// Copies a damaged segment under another name for inspection; returns the copy's path.
    func quarantine(segment: UInt64) throws(StorageFailure) -> String

    /// Takes the appenders' lock, waiting for other processes. Not recursive.
    func lock() throws(StorageFailure)
    func unlock()

    /// Takes the lock unless another process holds it; returns whether it did.
    func lockIfFree() throws(StorageFailure) -> Bool

    /// Identifies this storage: a copy, or a restored backup, has another one.
    var identity: UInt64 { get }

    /// A segment's path, for messages.
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

    /// On return everything written before the call is durable. When it throws, what was written since the last
    /// successful call may or may not be durable, and a second call proves nothing.
    func sync() throws(StorageFailure)
}

extension LogFile {
    func write(_ bytes: [UInt8], at offset: Int) throws(StorageFailure) {
        try bytes.withUnsafeBufferPointer { buffer throws(StorageFailure) in
            try write(UnsafeRawBufferPointer(buffer), at: offset)
        }
    }
}

/// A failed system call.
package struct StorageFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// "write", "sync", "create", …
    package var operation: String
    package var path: String
    /// The system's error number.
    package var code: Int32
    package var message: String
    /// Whether space, quota or inodes have run out: the same call may succeed later.
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
