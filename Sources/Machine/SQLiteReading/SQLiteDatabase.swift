import Essentials
import LocalFiles

/// Reads databases that other programs may be writing.
///
/// SQLite reads the files as they are; afterwards they are compared with what they were. When a program has changed
/// what may have been read, everything is read again. See docs/decisions/0040-reading-sqlite.md.
package struct SQLiteDatabase {
    package enum Outcome<Value> {
        case read(Value)
        /// There is no file.
        case missing
        /// Its tool kept writing, or was interrupted and has not run since: read it again after its next change.
        case inUse
        /// The pass's bytes, steps or time ended first; the pass is partial.
        case outOfBudget
    }

    package static let attemptCount = 4
    private static let pauseMicroseconds: UInt32 = 15_000
    private static let magic = Array("SQLite format 3\0".utf8)

    private let files: SQLiteFiles
    private let library: SQLiteLibrary
    private let stepCount: Int
    private let valueByteLimit: Int

    /// Opens a database for `body`, at most `attemptCount` times.
    ///
    /// - Parameters:
    ///   - stepCount: how many instructions of SQLite an attempt may take; the budget's unless stated.
    ///   - valueByteLimit: the longest value that is read; the budget's unless stated.
    ///   - body: must change nothing outside itself: only the result of its last call counts, and the calls before
    ///     may see errors, or values that never were in the database.
    /// - Throws: only when the files have not changed meanwhile.
    package static func read<Value>(
        _ path: String, budget: inout some ReadBudget, stepCount: Int? = nil, valueByteLimit: Int? = nil,
        library: SQLiteLibrary? = .installed, _ body: (SQLiteConnection) throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Outcome<Value> {
        for attempt in 1...attemptCount {
            let result: Result<Outcome<Value>?, SQLiteError>
            do throws(FileError) {
                guard try FileStatus(path: path) != nil else { return .missing }
                if let library {
                    guard budget.reserveFile() else { return .outOfBudget }
                    let database = SQLiteDatabase(
                        files: SQLiteFiles(try LocalFile(path).resolvingLinks().path),
                        library: library, stepCount: stepCount ?? budget.stepCount,
                        valueByteLimit: valueByteLimit ?? budget.valueByteCount)
                    result = try database.attempt(&budget, body)
                } else {
                    result = .failure(SQLiteError(path: path, cause: .noLibrary))
                }
            } catch {
                // A file that was just there: its tool has removed it.
                guard error.isMissing else { throw SQLiteError(path: path, cause: .file(error)) }
                result = .success(nil)
            }
            if let outcome = try result.get() { return outcome }
            if attempt < attemptCount { usleep(pauseMicroseconds) }
        }
        return .inUse
    }

    /// Opens a database for one step after the other, until nothing is left or the budget ends. One without a byte,
    /// which its tool has only created, has nothing.
    ///
    /// - Parameters:
    ///   - state: how far the reading is. It changes with each step that counts.
    ///   - step: reads some rows, from where the state is, and says where it is then. It changes nothing else.
    ///   - found: gets what a step has found, when it is certain that this counts.
    /// - Returns: false when there is more to read, or the database is in use.
    package static func readSteps<State: Equatable, Found>(
        _ path: String, budget: inout some ReadBudget, valueByteLimit: Int, from state: inout State,
        step: (inout State, SQLiteConnection) throws(SQLiteError) -> (Found, isComplete: Bool),
        found: (Found) -> Void = { _ in }
    ) throws(SQLiteError) -> Bool {
        // Without a status, opening says why.
        if let status = try? FileStatus(path: path), status.byteCount == 0 { return true }
        while true {
            let start = state
            let outcome = try read(path, budget: &budget, valueByteLimit: valueByteLimit) {
                connection throws(SQLiteError) in
                var state = start
                let result = try step(&state, connection)
                return (state, result)
            }
            switch outcome {
            case .missing: return true
            case .inUse, .outOfBudget: return false
            case .read((let next, let result)):
                found(result.0)
                state = next
                if result.isComplete { return true }
                if budget.bytesLeft == 0 || state == start { return false }
            }
        }
    }

    /// Nil when the files are in use.
    private func attempt<Value>(
        _ budget: inout some ReadBudget, _ body: (SQLiteConnection) throws(SQLiteError) -> Value
    ) throws(FileError) -> Result<Outcome<Value>?, SQLiteError> {
        try LocalFile(files.database).withOpen { database throws(FileError) in
            try withOpen(files.log) { log throws(FileError) in
                try withOpen(files.logIndex) { logIndex throws(FileError) in
                    let hasLog = log.map { $0.status.byteCount > 0 } ?? false
                    let open = SQLiteFileState.OpenFiles(
                        database: database, log: hasLog ? log : nil, logIndex: hasLog ? logIndex : nil)
                    return try attempt(open, &budget, body)
                }
            }
        }
    }

    private func attempt<Value, Budget: ReadBudget>(
        _ open: SQLiteFileState.OpenFiles, _ budget: inout Budget,
        _ body: (SQLiteConnection) throws(SQLiteError) -> Value
    ) throws(FileError) -> Result<Outcome<Value>?, SQLiteError> {
        // Files of the kernel pretend to be empty; reading one may wait, or do something.
        guard open.database.status.byteCount > 0 else {
            return try isConsistent(open) ? .failure(error(.notADatabase)) : .success(nil)
        }
        let before = try SQLiteFileState(open)
        guard try isConsistent(open) else { return .success(nil) }
        guard before.header.starts(with: Self.magic) else { return .failure(error(.notADatabase)) }
        // What is missing of the last page SQLite takes for zeros.
        guard open.log != nil || Self.hasWholePages(before) else { return .failure(error(.damaged)) }
        let pass = SQLitePass(
            budget: budget, stepCount: stepCount, database: open.database, log: open.log, library: library)
        let result = Result { () throws(SQLiteError) in
            try body(SQLiteConnection(files.database, pass, valueByteLimit: valueByteLimit, library: library))
        }
        if let spent = pass.budget as? Budget { budget = spent }
        if case .failure(let error) = result, error.cause == .outOfBudget {
            return .success(.outOfBudget)
        }
        guard before.isIntact(after: try SQLiteFileState(open)), try isCurrent(open, before) else {
            return .success(nil)
        }
        return result.map { .read($0) }
    }

    private static func hasWholePages(_ state: SQLiteFileState) -> Bool {
        guard state.header.count > 17 else { return false }
        let size = Int64(state.header[16]) << 8 | Int64(state.header[17])
        return size > 0 && state.database.byteCount.isMultiple(of: size == 1 ? 65_536 : size)
    }

    /// Whether the open files are, at this moment, all that makes up the database.
    private func isConsistent(_ open: SQLiteFileState.OpenFiles) throws(FileError) -> Bool {
        if open.log == nil, let log = try FileStatus(path: files.log), log.byteCount > 0 {
            return false
        }
        // A transaction is being written, or was interrupted, unless the journal begins with a zero.
        return try withOpen(files.journal) { journal throws(FileError) in
            try journal?.bytes(at: 0, count: 1).first ?? 0 == 0
        }
    }

    /// Whether the log and its index are still those that programs use.
    private func isCurrent(_ open: SQLiteFileState.OpenFiles, _ before: SQLiteFileState) throws(FileError) -> Bool {
        guard let log = open.log else { return true }
        guard try FileStatus(path: files.log)?.identity == log.status.identity else { return false }
        guard let index = before.logIndex else { return true }
        return try FileStatus(path: files.logIndex)?.identity == index.identity
    }

    /// Passes nil when there is no file.
    private func withOpen<Result>(
        _ path: String, _ body: (OpenFile?) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        guard try FileStatus(path: path) != nil else { return try body(nil) }
        return try LocalFile(path).withOpen(body)
    }

    private func error(_ cause: SQLiteError.Cause) -> SQLiteError {
        SQLiteError(path: files.database, cause: cause)
    }
}
