import Essentials
import LocalFiles
import SQLiteReading

/// The history of Maccy, which it keeps with SwiftData, and with Core Data before 2.0, in the same tables.
///
/// The entities are `HistoryItem` and `HistoryItemContent` of github.com/p0deje/Maccy (Maccy/Models/HistoryItem.swift
/// and HistoryItemContent.swift; before, Maccy/Storage.xcdatamodeld). Core Data writes each as a table: `Z` and the
/// name in capitals, the key `Z_PK`, attributes as `Z` and the name, the relationship `item` as the key of its row, and
/// dates as seconds since 2001.
///
/// The file is read without a lock, and is not changed, while Maccy may be running.
enum MaccyDatabase {
    private static let items = "ZHISTORYITEM"
    private static let contents = "ZHISTORYITEMCONTENT"
    /// The largest value of a type that is read.
    private static let valueByteLimit = 8 << 20
    private static let tooLarge = "has a value larger than 8 MiB"
    /// More than its largest history.
    private static let rowLimit = 100_000

    /// What reading may cost: minutes at most, and no more bytes than a large history has.
    private struct Budget: ReadBudget {
        private(set) var bytesLeft = 2 << 30
        let stepCount = 200_000_000
        let valueByteCount = MaccyDatabase.valueByteLimit
        private let end = ContinuousClock.now + .seconds(120)

        var isOutOfTime: Bool { ContinuousClock.now >= end }
        mutating func recordRead(_ count: Int) { bytesLeft = max(0, bytesLeft - count) }
        mutating func markExceeded() {}
        mutating func reserveFile() -> Bool { bytesLeft > 0 && !isOutOfTime }
    }

    static func read(_ path: String) throws -> ImportedItems {
        var budget = Budget()
        let outcome: SQLiteDatabase.Outcome<ImportedItems>
        do throws(SQLiteError) {
            outcome = try SQLiteDatabase.read(path, budget: &budget, read)
        } catch {
            throw ImportError(path: path, reason: reason(error.cause))
        }
        switch outcome {
        case .read(let items): return items
        case .missing: throw ImportError.missing(path)
        case .inUse: throw ImportError(path: path, reason: reason(.inUse))
        case .outOfBudget: throw ImportError(path: path, reason: reason(.outOfBudget))
        }
    }

    private static func reason(_ cause: SQLiteError.Cause) -> String {
        switch cause {
        case .file(let error): error.message
        case .noLibrary: "SQLite is not installed; install \(SQLiteLibrary.packageName)"
        case .notADatabase: "not an SQLite database; pass the path of Maccy's Storage.sqlite"
        case .damaged: "the database is damaged; copy Storage.sqlite from a backup"
        case .unexpectedSchema: "not a history of Maccy; pass the path of its Storage.sqlite"
        case .inUse: "Maccy is writing it; quit Maccy and run this again"
        case .outOfMemory: "reading it needs too much memory"
        case .outOfBudget: "it takes too long to read; clear a part of the history in Maccy"
        case .valueTooLong(let limit): "a value has more than \(limit) bytes"
        case .other(let text): "SQLite reports: \(text)"
        }
    }

    private static func read(_ connection: SQLiteConnection) throws(SQLiteError) -> ImportedItems {
        let itemColumns = try connection.columns(of: items) ?? []
        let contentColumns = try connection.columns(of: contents) ?? []
        guard itemColumns.contains("ZLASTCOPIEDAT"),
            contentColumns.isSuperset(of: ["ZITEM", "ZTYPE", "ZVALUE"])
        else { throw SQLiteError(path: "", cause: .unexpectedSchema) }
        var rows: [Int64: ImportedItem] = [:]
        let names = ["ZLASTCOPIEDAT", "ZFIRSTCOPIEDAT", "ZNUMBEROFCOPIES", "ZPIN", "ZAPPLICATION", "ZTITLE"]
        let columns = names.map { itemColumns.contains($0) ? $0 : "NULL" }
        let scan = try connection.rows(of: items, columns, limit: rowLimit) { id, row in
            rows[id] = ImportedItem(
                offer: Offer([], application: row.text(4)), first: row.double(1).flatMap(time),
                last: row.double(0).flatMap(time), copies: row.integer(2).map { Int(clamping: max(1, $0)) } ?? 1,
                pin: row.text(3).map(pin), title: row.text(5))
        }
        var imported = ImportedItems()
        imported.skip("a text of it is too long", scan.tooLongCount)
        let oldest = Timestamp(milliseconds: .min)
        let newest = rows.sorted { ($0.value.last ?? oldest, $0.key) > ($1.value.last ?? oldest, $1.key) }
        for (id, item) in newest {
            var item = item
            // Older ones are only counted.
            if !imported.isFull, try !readContents(of: id, into: &item.offer, connection) {
                // A mark may be behind what was not read.
                imported.skip(tooLarge)
                continue
            }
            imported.append(item)
        }
        return imported
    }

    /// By the index that Core Data has for a relationship.
    ///
    /// - Returns: false when a value is too long, and was not read.
    private static func readContents(
        of id: Int64, into offer: inout Offer, _ connection: SQLiteConnection
    ) throws(SQLiteError) -> Bool {
        do throws(SQLiteError) {
            let isDone = try connection.query(
                "SELECT ZTYPE, ZVALUE FROM \(contents) WHERE ZITEM = ?1", [.integer(id)]
            ) { row in
                guard let type = row.text(0) else { return }
                guard let data = row.bytes(1, limit: valueByteLimit) else {
                    // A mark says what it does without a value.
                    offer.typeNames.append(type)
                    return
                }
                add(data, type, to: &offer)
            }
            guard isDone else { throw SQLiteError(path: "", cause: .outOfBudget) }
            return true
        } catch {
            if case .valueTooLong = error.cause { return false }
            throw error
        }
    }

    /// Several files are several contents of a type, and lines of one list here.
    private static func add(_ data: Data, _ name: String, to offer: inout Offer) {
        if ContentType(rawValue: name) == .files, let index = offer.data.firstIndex(where: { $0.name == name }) {
            offer.data[index].data += Data("\n".utf8) + data
        } else if !offer.typeNames.contains(name) {
            offer.typeNames.append(name)
            offer.data.append((name, data))
        }
    }

    /// An empty text is a pin without a letter.
    private static func pin(_ text: String) -> PinState.Pin {
        guard text.count == 1, let letter = text.first.flatMap(PinLetter.init) else { return .unlettered }
        return .letter(letter)
    }

    private static func time(_ secondsSince2001: Double) -> Timestamp? {
        let milliseconds = ((secondsSince2001 + 978_307_200) * 1_000).rounded()
        return Int64(exactly: milliseconds).map { Timestamp(milliseconds: $0) }
    }
}
