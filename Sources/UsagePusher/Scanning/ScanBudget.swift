import Essentials
import LocalFiles
import SQLiteReading

/// What a pass may still cost, shared by everything that the pass reads.
struct ScanBudget {
    private(set) var bytesRead = 0
    private(set) var filesOpened = 0
    private(set) var entriesSeen = 0
    /// True once something was refused: the pass is partial.
    private(set) var isExceeded = false
    let limits: ScanLimits
    private let deadline: Double
    private let monotonicSeconds: @Sendable () -> Double

    /// - Parameter monotonicSeconds: a clock that never steps; one that stands still sets no
    ///   deadline.
    init(
        limits: ScanLimits = ScanLimits(),
        monotonicSeconds: @escaping @Sendable () -> Double = { 0 }
    ) {
        self.limits = limits
        self.monotonicSeconds = monotonicSeconds
        deadline = monotonicSeconds() + limits.seconds
    }

    init(_ environment: SourceEnvironment) {
        self.init(limits: environment.limits, monotonicSeconds: environment.monotonicSeconds)
    }

    /// Bytes that may still be read; 0 after the deadline.
    var bytesLeft: Int { left(of: limits.byteCount - bytesRead) }

    /// Directory entries that may still be listed; 0 after the deadline.
    var entriesLeft: Int { left(of: limits.entryCount - entriesSeen) }

    var isOutOfTime: Bool { monotonicSeconds() >= deadline }

    private func left(of count: Int) -> Int { isOutOfTime ? 0 : max(0, count) }

    mutating func recordRead(_ count: Int) { bytesRead += count }
    mutating func recordEntries(_ count: Int) { entriesSeen += count }
    mutating func markExceeded() { isExceeded = true }

    private var hasFileLeft: Bool { filesOpened < limits.fileCount && bytesLeft > 0 }

    /// Counts a file to be opened. Returns false, and marks the pass partial, when no file, byte or time is left.
    mutating func reserveFile() -> Bool {
        guard hasFileLeft else {
            isExceeded = true
            return false
        }
        filesOpened += 1
        return true
    }
}

extension ScanBudget: ReadBudget {
    var stepCount: Int { limits.stepCount }
    var valueByteCount: Int { limits.lineByteCount }
}

extension ScanBudget {
    /// Whether a document can be read as a whole. Marks the pass partial when it is too large only for what is left.
    mutating func hasRoom(for status: FileStatus) -> Bool {
        let fits = status.byteCount <= bytesLeft || status.byteCount > limits.documentByteCount
        guard hasFileLeft, fits else {
            isExceeded = true
            return false
        }
        return true
    }

    /// A file that is read as a whole, or an object with some members of a JSON file.
    struct Document {
        var data: Data
        var status: FileStatus

        /// Nil when the file is not one JSON object.
        var fields: JSONFields? { JSONFields(data) }

        var modificationDate: Date { status.modificationDate }
    }

    /// Reads a document; nil when there is no file.
    ///
    /// - Throws: `tooLarge` also when the budget has not enough bytes left; the pass is then
    ///   partial.
    mutating func readDocument(_ path: String, followsLinks: Bool = true) throws(FileError) -> Document? {
        try read(path, followsLinks: followsLinks, byteLimit: limits.documentByteCount) {
            budget, file throws(FileError) in
            let byteCount = Int(file.status.byteCount)
            guard byteCount <= budget.bytesLeft else {
                budget.markExceeded()
                throw Self.tooLarge(path, budget.bytesLeft)
            }
            let bytes = try file.bytes(at: 0, count: byteCount)
            budget.recordRead(bytes.count)
            return Data(bytes)
        }
    }

    /// Reads some members of a JSON object of up to 1 GiB; nil when there is no file.
    ///
    /// Bounded by time instead of the budget's bytes, which are for logs: the object is read as a whole or not at all.
    mutating func readMembers(_ names: Set<String>, of path: String) throws(FileError) -> Document? {
        try read(path, byteLimit: limits.objectByteCount) { budget, file throws(FileError) in
            var scan = JSONMemberScan(names)
            var offset: Int64 = 0
            while offset < file.status.byteCount {
                guard budget.bytesLeft > 0 else {
                    budget.markExceeded()
                    break
                }
                let bytes = try file.bytes(at: offset, count: 262_144)
                if bytes.isEmpty { break }
                bytes.withUnsafeBytes { scan.add($0) }
                offset += Int64(bytes.count)
            }
            return scan.object ?? Data()
        }
    }

    private mutating func read(
        _ path: String, followsLinks: Bool = true, byteLimit: Int,
        data: (inout ScanBudget, OpenFile) throws(FileError) -> Data
    ) throws(FileError) -> Document? {
        do throws(FileError) {
            return try LocalFile(path).withOpen(followsLinks: followsLinks) { file throws(FileError) in
                guard file.status.byteCount <= byteLimit else { throw Self.tooLarge(path, byteLimit) }
                guard reserveFile() else { throw Self.tooLarge(path, bytesLeft) }
                return Document(data: try data(&self, file), status: file.status)
            }
        } catch  where error.isMissing {
            return nil
        }
    }

    private static func tooLarge(_ path: String, _ byteLimit: Int) -> FileError {
        FileError(operation: "read", path: path, cause: .tooLarge(byteLimit: byteLimit))
    }
}
