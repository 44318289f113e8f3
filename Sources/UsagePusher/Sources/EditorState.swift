import Essentials
import LocalFiles
import SQLiteReading

/// The state of an editor of the VS Code family, `state.vscdb`: texts by key, some of them secrets.
struct EditorState: Sendable {
    /// Where editors of these names keep it, on Linux and on macOS, present or not.
    static func paths(of editors: String..., in environment: SourceEnvironment) -> [String] {
        environment.applicationData.flatMap { data in
            editors.map { data + "/" + $0 + "/User/globalStorage/state.vscdb" }
        }
    }

    private static let table = "ItemTable"
    private static let valueByteLimit = 1_048_576
    private static let rowLimit: Int64 = 64

    /// By key.
    private(set) var values: [String: String] = [:]

    /// Reads the values of some keys, and of those that begin with a text that ends in "-". Nothing else is looked at.
    fileprivate static func read(
        _ path: String, keys: [String], prefix: String?, budget: inout ScanBudget
    ) throws(SQLiteError) -> SQLiteDatabase.Outcome<EditorState> {
        try SQLiteDatabase.read(path, budget: &budget, valueByteLimit: valueByteLimit) {
            connection throws(SQLiteError) in
            var state = EditorState()
            try connection.expectTable(table)
            guard try connection.expect(["key", "value"], in: table) else { return state }
            let add = { (row: borrowing SQLiteRow) in
                if let key = row.text(0) { state.values[key] = row.decodedText(1) }
            }
            for key in keys {
                try connection.lookUp("SELECT key, value FROM \(table) WHERE key = ?1", [.text(key)], row: add)
            }
            if let prefix {
                try connection.lookUp(
                    "SELECT key, value FROM \(table) WHERE key >= ?1 AND key < ?2 LIMIT ?3",
                    [.text(prefix), .text(prefix.dropLast() + "."), .integer(rowLimit)], row: add)
            }
            return state
        }
    }
}

/// The states of editors as they were read last: one that is being written is what it was.
struct EditorStates: Sendable {
    struct Reading: Sendable {
        var state: EditorState
        /// When it was written last, with its log.
        var date: Date
    }

    private var known: [String: Reading] = [:]

    /// - Returns: nil when there is no database.
    /// - Throws: also when it is in use, and has not been read before.
    mutating func read(
        _ path: String, keys: [String], prefix: String? = nil, budget: inout ScanBudget
    ) throws(SQLiteError) -> Reading? {
        let status = FileStatus.visible(at: path)?.includingDatabaseLog(of: path)
        let outcome = try EditorState.read(path, keys: keys, prefix: prefix, budget: &budget)
        switch outcome {
        case .read(let state):
            known[path] = status.map { Reading(state: state, date: $0.modificationDate) }
        case .missing: known[path] = nil
        case .inUse: try keep(path, because: .inUse, &budget)
        case .outOfBudget: try keep(path, because: .outOfBudget, &budget)
        }
        return known[path]
    }

    private func keep(
        _ path: String, because cause: SQLiteError.Cause, _ budget: inout ScanBudget
    ) throws(SQLiteError) {
        budget.markExceeded()
        if known[path] == nil { throw SQLiteError(path: path, cause: cause) }
    }
}
