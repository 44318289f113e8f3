import Foundation
import LocalFiles

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

    private func left(of count: Int) -> Int { monotonicSeconds() < deadline ? max(0, count) : 0 }

    mutating func recordRead(_ count: Int) { bytesRead += count }
    mutating func recordEntries(_ count: Int) { entriesSeen += count }
    mutating func markExceeded() { isExceeded = true }

    /// Counts a file to be opened. Returns false, and marks the pass partial, when no file, byte
    /// or time is left.
    mutating func reserveFile() -> Bool {
        guard filesOpened < limits.fileCount, bytesLeft > 0 else {
            isExceeded = true
            return false
        }
        filesOpened += 1
        return true
    }
}

extension ScanBudget {
    /// A small JSON file read as a whole.
    struct Document {
        /// Nil when the file is not one JSON object.
        var fields: JSONFields?
        var modificationDate: Date
        var status: FileStatus
    }

    /// Reads a document; nil when there is no file.
    ///
    /// - Throws: `tooLarge` also when the budget has not enough bytes left; the pass is then
    ///   partial.
    mutating func readDocument(
        _ path: String, followsLinks: Bool = true
    ) throws(FileError) -> Document? {
        func tooLarge(_ byteLimit: Int) -> FileError {
            FileError(operation: "read", path: path, cause: .tooLarge(byteLimit: byteLimit))
        }
        do throws(FileError) {
            return try LocalFile(path).withOpen(followsLinks: followsLinks) {
                file throws(FileError) in
                let byteCount = Int(clamping: file.status.byteCount)
                guard byteCount <= limits.documentByteCount else {
                    throw tooLarge(limits.documentByteCount)
                }
                guard reserveFile(), byteCount <= bytesLeft else {
                    markExceeded()
                    throw tooLarge(bytesLeft)
                }
                let bytes = try file.bytes(at: 0, count: byteCount)
                recordRead(bytes.count)
                return Document(
                    fields: JSONFields(Data(bytes)),
                    modificationDate: file.status.modificationDate, status: file.status)
            }
        } catch  where error.isMissing {
            return nil
        }
    }

    /// Reads some members of a JSON object of up to 1 GiB; nil when there is no file.
    ///
    /// Bounded by time instead of the budget's bytes, which are for logs: the object is read as a whole or not at all.
    mutating func readMembers(_ names: Set<String>, of path: String) throws(FileError) -> Document?
    {
        do throws(FileError) {
            return try LocalFile(path).withOpen { file throws(FileError) in
                let limit = limits.objectByteCount
                guard file.status.byteCount <= limit else {
                    throw FileError(
                        operation: "read", path: path, cause: .tooLarge(byteLimit: limit))
                }
                guard reserveFile() else {
                    throw FileError(
                        operation: "read", path: path, cause: .tooLarge(byteLimit: bytesLeft))
                }
                var scan = JSONMemberScan(names)
                var offset: Int64 = 0
                while offset < file.status.byteCount {
                    guard bytesLeft > 0 else {
                        markExceeded()
                        break
                    }
                    let bytes = try file.bytes(at: offset, count: 262_144)
                    if bytes.isEmpty { break }
                    bytes.withUnsafeBytes { scan.add($0) }
                    offset += Int64(bytes.count)
                }
                return Document(
                    fields: scan.object.flatMap { JSONFields($0) },
                    modificationDate: file.status.modificationDate, status: file.status)
            }
        } catch  where error.isMissing {
            return nil
        }
    }
}
