import LocalFiles

/// How far the processes that have a write-ahead log open have written it and copied it back.
///
/// The beginning of the shared memory [sqlite.org/walformat.html, "WAL-Index Format"].
struct SQLiteLogIndex: Equatable {
    /// The offset of the byte that every process with the shared memory open keeps locked.
    private static let livenessByte: Int64 = 128
    private static let version: UInt32 = 3_007_000
    private static let headerByteCount = 48
    private static let byteCount = 136

    /// Identifies the log since it was last restarted: the bytes at 16 of its header.
    var salt: [UInt8]
    /// Frames of committed transactions.
    var frameCount: UInt32
    /// The last frame that may have been copied to the database file; set before the copy begins.
    var copiedFrameCount: UInt32
    var identity: FileStatus.Identity

    /// Nil when no other process has the log open, or the index is being written or of another version.
    init?(_ file: OpenFile) throws(FileError) {
        guard try file.isLockedElsewhere(at: Self.livenessByte) else { return nil }
        // Backwards: a restart changes the header first and then sets the frames copied to zero.
        let tail = try file.bytes(at: 96, count: Self.byteCount - 96)
        let header = try file.bytes(at: 0, count: 2 * Self.headerByteCount)
        guard tail.count == Self.byteCount - 96, header.count == 2 * Self.headerByteCount,
            header[..<Self.headerByteCount].elementsEqual(header[Self.headerByteCount...]),
            Self.number(header, at: 0) == Self.version, header[12] == 1
        else { return nil }
        salt = Array(header[32..<40])
        frameCount = Self.number(header, at: 16)
        copiedFrameCount = Self.number(tail, at: 32)
        identity = file.status.identity
    }

    /// In the byte order of the machine.
    private static func number(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }
}
