import CShims
import Foundation
import LocalFiles
import Testing

@testable import SQLiteReading
@testable import UsagePusher

/// A database that a test writes as a tool would: with the installed library and SQLite's own file system.
final class WrittenDatabase {
    struct Failure: Error {
        var code: CInt
        var sql: String
    }

    let path: String
    private let handle: SQLiteLibrary.Handle
    private let library: SQLiteLibrary

    /// Opens or creates it.
    init(_ path: String, _ setup: String...) throws {
        self.path = path
        library = try #require(SQLiteLibrary.installed)
        var handle: SQLiteLibrary.Handle?
        // Read, write, create.
        let code = library.call.open_v2(path, &handle, 0x6, nil)
        self.handle = try #require(handle, "code \(code)")
        for sql in setup { try execute(sql) }
    }

    deinit { _ = library.call.close(handle) }

    func execute(_ sql: String) throws {
        let code = library.call.exec(handle, sql, nil, nil, nil)
        guard code == SQLiteCode.ok else { throw Failure(code: code, sql: sql) }
    }

    /// Rows 1... whose values all say which transaction wrote them last, on a page each.
    static let pages = "CREATE TABLE page (id INTEGER PRIMARY KEY, version INTEGER, padding TEXT)"

    /// One transaction that changes all `count` pages.
    static func transaction(_ count: Int, version: Int) -> String {
        """
        BEGIN IMMEDIATE;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT OR REPLACE INTO page SELECT i, \(version), printf('%03000d', \(version)) FROM n;
        COMMIT;
        """
    }

    func writePages(_ count: Int, version: Int) throws {
        try execute(Self.transaction(count, version: version))
    }
}

/// A reading of the pages, whole as it has to be.
struct PagesReading: Equatable {
    var count = 0
    var versions: Set<Int64> = []
    var hasTornPadding = false

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        try self.init(connection) {}
    }

    /// - Parameter between: called after the first half of at most 120 pages.
    init(_ connection: SQLiteConnection, between: () -> Void) throws(SQLiteError) {
        guard try connection.columns(of: "page") == ["id", "version", "padding"] else { return }
        let half = try add(connection, after: nil, limit: 60)
        between()
        _ = try add(connection, after: half, limit: 10_000)
    }

    private mutating func add(_ connection: SQLiteConnection, after: Int64?, limit: Int) throws(SQLiteError) -> Int64 {
        try connection.rows(of: "page", ["version", "padding"], after: after, limit: limit) { _, row in
            count += 1
            guard let version = row.integer(0), let padding = row.text(1) else { return }
            versions.insert(version)
            if Int64(padding) != version { hasTornPadding = true }
        }.lastRowID
    }
}

/// A temporary directory of databases, removed with its last reference.
final class DatabaseDirectory {
    let home: SampleHome
    init() throws { home = try SampleHome() }

    func path(_ name: String = "tool.db") -> String { home.path(name) }

    /// Name, identity, size and modification time of each file.
    func statuses() throws -> [String: FileStatus] {
        try FileManager.default.contentsOfDirectory(atPath: home.path).reduce(into: [:]) {
            $0[$1] = try FileStatus(path: home.path($1), followsLinks: false)
        }
    }
}

extension SQLiteDatabase.Outcome {
    var value: Value? {
        guard case .read(let value) = self else { return nil }
        return value
    }
}

/// Reads with the usual limits and a clock that stands still.
func readDatabase<Value>(
    _ path: String, limits: ScanLimits = ScanLimits(), valueByteLimit: Int? = nil,
    _ body: (SQLiteConnection) throws(SQLiteError) -> Value
) throws(SQLiteError) -> SQLiteDatabase.Outcome<Value> {
    var budget = ScanBudget(limits: limits)
    return try SQLiteDatabase.read(path, budget: &budget, valueByteLimit: valueByteLimit, body)
}
