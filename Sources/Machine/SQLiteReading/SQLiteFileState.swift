import Essentials
import LocalFiles

/// What is compared before and after reading a database without locks, to tell whether a tool wrote what was read.
struct SQLiteFileState: Sendable {
    static let logHeaderByteCount = 32

    /// The open files of one attempt.
    struct OpenFiles {
        var database: OpenFile
        /// With at least a header.
        var log: OpenFile?
        var logIndex: OpenFile?
    }

    let database: FileStatus
    /// With the change counter.
    let header: [UInt8]
    let log: FileStatus?
    let logHeader: [UInt8]
    /// Nil when no process has the log open.
    let logIndex: SQLiteLogIndex?
    /// Whether a write that follows may leave the same modification time.
    private let isFresh: Bool

    init(_ files: OpenFiles) throws(FileError) {
        // In this order, so that a log restarted in between shows in its header.
        logIndex = try files.logIndex.flatMap { file throws(FileError) in
            try SQLiteLogIndex(file)
        }
        log = try files.log?.currentStatus()
        logHeader = try files.log?.bytes(at: 0, count: Self.logHeaderByteCount) ?? []
        database = try files.database.currentStatus()
        header = try files.database.bytes(at: 0, count: 100)
        isFresh = Self.isFresh(database.modified)
    }

    /// The kernel's clock for files ticks every 10 ms at the slowest; some file systems only keep seconds.
    private static func isFresh(_ modified: Int64) -> Bool {
        let resolution: Int64 = modified % 1_000_000_000 == 0 ? 2_000_000_000 : 20_000_000
        let now = Int64(Date().timeIntervalSince1970 * 1e9)
        return abs(now &- modified) < resolution
    }

    /// Whether the bytes that a reader may have used in between were the same all the time. This is the state before.
    func isIntact(after: SQLiteFileState) -> Bool {
        guard logHeader == after.logHeader, log?.identity == after.log?.identity else { return false }
        guard let logIndex else { return !isFresh && database == after.database && header == after.header }
        // Frames up to this one were read from the log, so copying them changed nothing that was read.
        guard let index = after.logIndex else { return false }
        return index.identity == logIndex.identity && index.salt == logIndex.salt
            && index.copiedFrameCount <= logIndex.frameCount
    }
}
