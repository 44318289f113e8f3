import CShims
import Essentials
import LocalFiles

/// Asks a database that `SQLiteDatabase.read` has opened. Valid only inside the closure that received it.
package final class SQLiteConnection {
    /// How far `rows` got.
    package struct Scan: Sendable, Equatable {
        /// The id of the last row that is done; the next scan continues after it.
        package var lastRowID: Int64
        /// Rows that were skipped, since a value was longer than the limit.
        package var tooLongCount = 0
        /// Whether there are no further rows.
        package var isComplete = false
    }

    package let path: String
    private let library: SQLiteLibrary
    private let pass: SQLitePass
    private let fileSystem: SQLiteFileSystem
    private let valueByteLimit: Int
    private let handle: SQLiteLibrary.Handle

    /// Limits as sqlite3.h numbers them: what is asked here is small, and a schema must not make it large.
    private static let limits: [(id: CInt, value: CInt)] = [
        (1, 262_144),  // SQL text, also of each entry of the schema
        (2, 2_000),  // columns
        (3, 100),  // depth of an expression
        (4, 8),  // compound selects
        (5, 20_000),  // instructions of a statement
        (7, 0),  // attached databases
        (8, 256),  // bytes of a pattern
        (9, 64),  // parameters
        (10, 1),  // depth of triggers
        (11, 0),  // threads
    ]

    /// The log is read with an index in private memory, which SQLite has only for exclusive use; nothing is locked
    /// for it. The schema is loaded by the first statement that needs it, after these.
    private static let settings = """
        PRAGMA locking_mode=EXCLUSIVE; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;
        PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY; PRAGMA automatic_index=OFF;
        PRAGMA query_only=ON; PRAGMA cache_size=-1024;
        """

    init(_ path: String, _ pass: SQLitePass, valueByteLimit: Int, library: SQLiteLibrary) throws(SQLiteError) {
        self.path = path
        self.library = library
        self.pass = pass
        self.valueByteLimit = valueByteLimit
        guard let fileSystem = SQLiteFileSystem(pass, in: library) else {
            throw SQLiteError(path: path, cause: .outOfMemory)
        }
        self.fileSystem = fileSystem
        var handle: SQLiteLibrary.Handle?
        let flags = SQLiteCode.openReadOnly | SQLiteCode.openWithoutMutex | SQLiteCode.openPrivateCache
        let code = library.call.open_v2("database", &handle, flags, fileSystem.name)
        guard let handle else { throw SQLiteError(path: path, cause: .outOfMemory) }
        self.handle = handle
        try check(code)
        for (id, value) in Self.limits { _ = library.call.limit(handle, id, value) }
        _ = library.call.limit(handle, 0, CInt(clamping: valueByteLimit))
        let context = Unmanaged.passUnretained(pass).toOpaque()
        let steps = CInt(SQLitePass.stepsPerCheck)
        library.call.progress_handler(
            handle, steps,
            { context in
                guard let context else { return 1 }
                let pass = Unmanaged<SQLitePass>.fromOpaque(context).takeUnretainedValue()
                return pass.continues(afterSteps: SQLitePass.stepsPerCheck) ? 0 : 1
            }, context)
        try check(library.call.exec(handle, Self.settings, nil, nil, nil))
        let result = library.call.set_authorizer(
            handle,
            { context, action, first, second, _, within in
                guard let context else { return 1 }
                let pass = Unmanaged<SQLitePass>.fromOpaque(context).takeUnretainedValue()
                let isAllowed = pass.allows(
                    action, first.map { String(cString: $0) }, second.map { String(cString: $0) },
                    isWithinView: within != nil)
                return isAllowed ? 0 : 1
            }, context)
        try check(result)
    }

    deinit { _ = library.call.close(handle) }

    /// The stored columns of a table, which can be read from now on; nil when there is no such table.
    ///
    /// A view or a virtual table is no table; a computed column is no column. The name is case-sensitive.
    package func columns(of table: String) throws(SQLiteError) -> Set<String>? {
        pass.isInspecting = true
        defer { pass.isInspecting = false }
        var isTable = false
        let definition = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?1 AND rootpage > 0"
        var isDone = try query(definition, [.text(table)]) { row in
            // What SQLite itself writes there, however the statement was written.
            let prefix = Array("create table ".utf8)
            isTable =
                row.withBytes(0) { sql in
                    sql.prefix(prefix.count).map { $0 | 0x20 } == prefix
                } ?? false
        }
        var columns: Set<String> = []
        if isTable {
            isDone = try query("PRAGMA table_xinfo(\(Self.quoted(table)))") { row in
                if row.integer(6) == 0, let name = row.text(1) { columns.insert(name) }
            }
        }
        guard isDone else { throw SQLiteError(path: path, cause: .outOfBudget) }
        guard isTable else { return nil }
        pass.readable[table] = columns
        return columns
    }

    /// Throws `unexpectedSchema` when the database has tables, but none of these. A tool that has just begun has none
    /// at all.
    package func expectTable(_ names: String...) throws(SQLiteError) {
        for name in names where try columns(of: name) != nil { return }
        var isUnexpected = false
        pass.isInspecting = true
        defer { pass.isInspecting = false }
        try lookUp("SELECT 1 FROM sqlite_master WHERE type = 'table' LIMIT 1") { _ in
            isUnexpected = true
        }
        if isUnexpected { throw SQLiteError(path: path, cause: .unexpectedSchema) }
    }

    /// Passes the rows of one SELECT, which should find them by key, by row id or by index: all others cost the
    /// time of a scan.
    ///
    /// - Returns: false when the budget ended before the last row; the pass is then partial.
    /// - Throws: `unexpectedSchema` unless `columns(of:)` has returned what the statement reads. `valueTooLong` after
    ///   the rows before.
    package func query(
        _ sql: String, _ values: [SQLiteValue] = [], row: (borrowing SQLiteRow) -> Void
    ) throws(SQLiteError) -> Bool {
        var statement: SQLiteLibrary.Handle?
        let code = library.call.prepare_v2(handle, sql, -1, &statement, nil)
        guard code == SQLiteCode.ok, let statement else {
            // It names what is not there, or is refused.
            if code == SQLiteCode.error, pass.exceeded == nil {
                throw SQLiteError(path: path, cause: .unexpectedSchema)
            }
            return try end(code)
        }
        defer { _ = library.call.finalize(statement) }
        for (index, value) in values.enumerated() {
            switch value {
            case .integer(let value):
                try check(library.call.bind_int64(statement, CInt(index + 1), value))
            case .text(let value):
                let count = CInt(clamping: value.utf8.count)
                try check(library.call.bind_text(statement, CInt(index + 1), value, count, -1))
            }
        }
        while true {
            let code = library.call.step(statement)
            guard code == SQLiteCode.row else { return code == SQLiteCode.done ? true : try end(code) }
            row(SQLiteRow(statement, library))
        }
    }

    /// Passes the rows of one SELECT, all of them; none when a value is too long.
    ///
    /// - Throws: `outOfBudget` when the budget ended before the last row.
    package func lookUp(
        _ sql: String, _ values: [SQLiteValue] = [], row: (borrowing SQLiteRow) -> Void
    ) throws(SQLiteError) {
        do throws(SQLiteError) {
            let isDone = try query(sql, values, row: row)
            guard isDone else { throw SQLiteError(path: path, cause: .outOfBudget) }
        } catch {
            guard error.cause == .valueTooLong(byteLimit: valueByteLimit) else { throw error }
        }
    }

    /// Passes the rows of a table in the order of their ids, with the columns in the order of `columns`, and skips
    /// those with a value that is too long.
    ///
    /// - Parameters:
    ///   - table: one of which `columns(of:)` has returned the columns.
    ///   - rowID: the id after which rows are read; nil to start with the first.
    package func rows(
        of table: String, _ columns: [String], after rowID: Int64? = nil, limit: Int,
        row: (_ rowID: Int64, borrowing SQLiteRow) -> Void
    ) throws(SQLiteError) -> Scan {
        // A column of that name would take the id's place.
        guard pass.readable[table]?.contains(where: { $0.lowercased() == "_rowid_" }) == false
        else { throw SQLiteError(path: path, cause: .unexpectedSchema) }
        var scan = Scan(lastRowID: rowID ?? .min)
        let names = (columns.map { $0 == "NULL" ? $0 : Self.quoted($0) } + ["_rowid_"]).joined(separator: ", ")
        let rest = "FROM \(Self.quoted(table)) WHERE _rowid_ > ?1 ORDER BY _rowid_ LIMIT ?2"
        var left = max(0, limit)
        while left > 0 {
            let wanted = left
            do throws(SQLiteError) {
                let isDone = try query("SELECT \(names) \(rest)", [.integer(scan.lastRowID), .integer(Int64(left))]) {
                    guard let id = $0.integer(columns.count) else { return }
                    row(id, $0)
                    scan.lastRowID = id
                    left -= 1
                }
                scan.isComplete = isDone && left > 0
                return scan
            } catch  where error.cause == .valueTooLong(byteLimit: valueByteLimit) {
                var next: Int64?
                let isDone = try query(
                    "SELECT _rowid_ \(rest)", [.integer(scan.lastRowID), .integer(1)]
                ) { next = $0.integer(0) }
                guard isDone, let next else { return scan }
                guard next > scan.lastRowID else { throw SQLiteError(path: path, cause: .damaged) }
                scan.lastRowID = next
                scan.tooLongCount += 1
                left = min(left, wanted) - 1
            }
        }
        return scan
    }

    private static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    private func check(_ code: CInt) throws(SQLiteError) {
        guard code != SQLiteCode.ok else { return }
        if try !end(code) { throw SQLiteError(path: path, cause: .outOfBudget) }
    }

    /// Returns false when the budget is the reason.
    private func end(_ code: CInt) throws(SQLiteError) -> Bool {
        if pass.exceeded == .budget { return false }
        throw SQLiteError(path: path, cause: cause(code & 0xFF))
    }

    private func cause(_ code: CInt) -> SQLiteError.Cause {
        if let error = pass.readError { return .file(error) }
        if pass.exceeded == .memory { return .outOfMemory }
        switch code {
        case SQLiteCode.noMemory: return .outOfMemory
        case SQLiteCode.corrupt: return .damaged
        case SQLiteCode.notADatabase: return .notADatabase
        case SQLiteCode.tooBig: return .valueTooLong(byteLimit: valueByteLimit)
        case SQLiteCode.unauthorized: return .unexpectedSchema
        default: return .other(library.call.errstr(code).map { String(cString: $0) } ?? "\(code)")
        }
    }
}
