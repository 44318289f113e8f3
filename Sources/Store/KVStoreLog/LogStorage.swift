package import LocalFiles

/// Where a log's bytes live: numbered segment files in one directory, and one lock for appenders.
///
/// In production these are files; a simulator supplies memory with fault injection. All calls block. A call that
/// throws `FileError` had its whole effect or none, unless its contract says otherwise.
package protocol LogStorage: AnyObject, Sendable {
    /// The numbers of all segments, ascending.
    func segments() throws(FileError) -> [UInt64]

    /// Opens a segment for reading and writing; nil when there is no such segment.
    func open(segment: UInt64) throws(FileError) -> (any LogFile)?

    /// Creates a segment of `byteCount` bytes that starts with `content` and is zero after it. On return content,
    /// size and name are durable. When it throws, the segment does not exist or is complete.
    func create(segment: UInt64, content: [UInt8], byteCount: Int) throws(FileError) -> any LogFile

    /// Makes the next `create` of a segment of this size fast, and the syncs of writes into it: its blocks have been
    /// written before. Unlike the other calls it may run beside them. It may do nothing, and what fails is tried again
    /// by `create`.
    func prepareSpace(byteCount: Int)

    /// Removes what a killed process has left that is no segment. The caller holds the lock.
    func removeLeftovers()

    /// Removes a segment. Processes that have it open can still read it.
    func remove(segment: UInt64) throws(FileError)

    /// On return the names of all segments are durable; that of one which another process created may not have been.
    func syncNames() throws(FileError)

    /// Copies a damaged segment under another name for inspection; returns the copy's path.
    func quarantine(segment: UInt64) throws(FileError) -> String

    /// Takes the appenders' lock, waiting for other processes. Not recursive.
    func lock() throws(FileError)
    func unlock()

    /// Takes the lock unless another process holds it; returns whether it did.
    func lockIfFree() throws(FileError) -> Bool

    /// Identifies this storage: a copy, or a restored backup, has another one.
    var identity: UInt64 { get }

    /// A segment's path, for messages.
    func path(segment: UInt64) -> String
}

extension LogStorage {
    package func prepareSpace(byteCount: Int) {}
    package func removeLeftovers() {}
}

/// One open segment. Calls may come from any thread.
package protocol LogFile: AnyObject, Sendable {
    var byteCount: Int { get }

    /// Reads up to `buffer.count` bytes; fewer only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int

    /// Writes all bytes. When it throws, any part of them may have been written.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError)

    /// On return everything written before the call is durable. When it throws, what was written since the last
    /// successful call may or may not be durable, and a second call proves nothing.
    func sync() throws(FileError)

    /// Makes the next reads come from the disk, as far as the system allows: after a failed sync, memory may hold what
    /// the disk lacks.
    func discardCache()
}

extension LogFile {
    package func discardCache() {}

    func write(_ bytes: [UInt8], at offset: Int) throws(FileError) {
        try bytes.withUnsafeBufferPointer { buffer throws(FileError) in
            try write(UnsafeRawBufferPointer(buffer), at: offset)
        }
    }
}
