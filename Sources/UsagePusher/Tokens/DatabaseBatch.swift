import LocalFiles
import SQLiteReading

/// Requests that one look into a database has found. They are added when it is certain that the database was not
/// written meanwhile: see `SQLiteDatabase.read`.
struct DatabaseBatch {
    struct Row {
        var record: TokenRecord
        var session: String
        var project: String?
        var model: String?
    }

    var rows: [Row] = []
    var leftOutCount = 0
    /// Whether there is nothing left to read.
    var isComplete = true

    fileprivate func add(to sink: inout TokenSink) {
        for row in rows {
            sink.add(row.record, session: sink.session(row.session, project: row.project), model: sink.model(row.model))
        }
        sink.leaveOut(leftOutCount)
    }
}

extension TokenFileReader {
    /// Reads a database batch by batch, until nothing is left or the budget ends.
    ///
    /// - Parameter batch: reads some rows, from where the reader is, and says where it is then. It changes nothing
    ///   else.
    /// - Returns: false when there is more to read, or the database is in use.
    mutating func readBatches(
        of file: TokenFile, valueByteLimit: Int, budget: inout ScanBudget, into sink: inout TokenSink,
        _ batch: (inout Self, SQLiteConnection) throws(SQLiteError) -> DatabaseBatch
    ) throws(FileError) -> Bool {
        do throws(SQLiteError) {
            return try SQLiteDatabase.readSteps(
                file.path, budget: &budget, valueByteLimit: valueByteLimit, from: &self
            ) { reader, connection throws(SQLiteError) in
                let batch = try batch(&reader, connection)
                return (batch, batch.isComplete)
            } found: {
                $0.add(to: &sink)
            }
        } catch {
            if case .file(let error) = error.cause { throw error }
            sink.report(error.description)
            return true
        }
    }
}

extension Timestamp {
    /// Milliseconds since 1970 of an ISO 8601 text, in UTC if it has no zone.
    static func milliseconds(text: String) -> Int64? {
        [text, text + "Z"].lazy.compactMap { text in
            Array(text.utf8).withUnsafeBufferPointer { milliseconds(iso8601: $0) }
        }.first
    }
}

extension SQLiteRow {
    /// A number of tokens: null is 0, and an invalid one -1, which no record can have.
    func tokenCount(_ column: Int) -> Int {
        if isNull(column) { return 0 }
        guard let number = double(column), number >= 0, number < 0x1p53 else { return -1 }
        return Int(number.rounded(.towardZero))
    }

    /// Milliseconds since 1970 of an ISO 8601 text, in UTC if it has no zone, or of a number of seconds or
    /// milliseconds.
    func milliseconds(_ column: Int) -> Int64? {
        if let number = double(column) { return Timestamp.milliseconds(unixTime: number) }
        return text(column).flatMap(Timestamp.milliseconds(text:))
    }
}

extension TokenCounts {
    /// A request of which the tool states the whole prompt, caches included, as the columns of a row: -1 for an invalid
    /// one.
    init(prompt: Int, cacheRead: Int, cacheWrite: Int, output: Int, reasoning: Int = 0) {
        let isPossible = min(prompt, cacheRead, cacheWrite, output, reasoning) >= 0
        self.init(
            input: prompt, output: output, reasoning: min(reasoning, output), cacheRead: cacheRead,
            cacheWrite5m: cacheWrite)
        if isPossible { removeCachesFromInput() } else { input = -1 }
    }
}
