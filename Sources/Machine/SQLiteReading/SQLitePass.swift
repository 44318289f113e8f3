import CShims
import LocalFiles

/// What SQLite's callbacks know of one attempt to read a database: its files, what may be asked and what it may cost.
///
/// Used by one thread.
final class SQLitePass {
    enum Limit: Equatable {
        case budget
        case memory
    }

    /// How many instructions pass between two checks.
    static let stepsPerCheck = 1_000
    /// What SQLite may allocate during an attempt, schema included.
    static let memoryByteLimit: Int64 = 12 * 1_024 * 1_024

    var budget: any ReadBudget
    let database: OpenFile
    let log: OpenFile?
    /// Columns that may be read, by table.
    var readable: [String: Set<String>] = [:]
    /// Whether the schema itself may be read.
    var isInspecting = false
    /// What ended the attempt early.
    private(set) var exceeded: Limit?
    private(set) var readError: FileError?
    private var stepsLeft: Int
    private let library: SQLiteLibrary
    private let memoryAtStart: Int64

    init(budget: any ReadBudget, stepCount: Int, database: OpenFile, log: OpenFile?, library: SQLiteLibrary) {
        self.budget = budget
        self.database = database
        self.log = log
        stepsLeft = stepCount
        self.library = library
        memoryAtStart = library.call.memory_used()
    }

    /// Counts some instructions of SQLite. Returns false when it has to stop.
    func continues(afterSteps count: Int) -> Bool {
        stepsLeft -= count
        if library.call.memory_used() - memoryAtStart > Self.memoryByteLimit { exceeded = .memory }
        if stepsLeft < 0 || budget.isOutOfTime { endBudget() }
        return exceeded == nil
    }

    /// Reads a file into the whole buffer. Returns the number of bytes there were, nil when it has to stop.
    func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
        guard exceeded == nil, budget.bytesLeft > 0 else {
            endBudget()
            return nil
        }
        do throws(FileError) {
            let count = try file.read(into: buffer, at: offset)
            budget.recordRead(count)
            return count
        } catch {
            readError = error
            return nil
        }
    }

    private func endBudget() {
        if exceeded == nil { exceeded = .budget }
        budget.markExceeded()
    }

    /// Whether a statement may do what SQLite asks about; views, triggers and computed columns may do nothing.
    func allows(_ action: CInt, _ first: String?, _ second: String?, isWithinView: Bool) -> Bool {
        if isInspecting { return true }
        switch action {
        case SQLiteCode.select: return true
        case SQLiteCode.function: return !isWithinView
        case SQLiteCode.read:
            guard !isWithinView, let first, let second, let columns = readable[first] else { return false }
            // The row's id without a column for it, and a table of which only rows are counted.
            return second == "ROWID" || second.isEmpty || columns.contains(second)
        default: return false
        }
    }
}

/// The constants of sqlite3.h that are used here.
enum SQLiteCode {
    static let ok: CInt = 0
    static let error: CInt = 1
    static let noMemory: CInt = 7
    static let readOnly: CInt = 8
    static let ioError: CInt = 10
    static let corrupt: CInt = 11
    static let notFound: CInt = 12
    static let cannotOpen: CInt = 14
    static let tooBig: CInt = 18
    static let unauthorized: CInt = 23
    static let notADatabase: CInt = 26
    static let row: CInt = 100
    static let done: CInt = 101
    static let shortRead: CInt = 522

    static let openReadOnly: CInt = 0x1
    static let openMainDatabase: CInt = 0x100
    static let openWithoutMutex: CInt = 0x8000
    static let openPrivateCache: CInt = 0x40000
    static let openLog: CInt = 0x80000
    static let immutable: CInt = 0x2000

    /// Actions of an authorizer.
    static let read: CInt = 20
    static let select: CInt = 21
    static let function: CInt = 31

    /// Types of a value.
    static let integer: CInt = 1
    static let float: CInt = 2
    static let text: CInt = 3
    static let blob: CInt = 4
}
