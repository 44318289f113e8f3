import Essentials
import SQLiteReading

/// The values of `NSUbiquitousKeyValueStore`, of all apps, as macOS 12 and later keep them on disk
/// [doublecmd/doublecmd uDarwinFinder.pas, which reads those of the Finder there].
enum CloudValues {
    private static let table = "ZSYDMANAGEDKEYVALUE"
    private static let columns = ["ZKEY", "ZPLISTDATAVALUE"]
    private static let rowLimit = 8

    static func path(home: String) -> String {
        home + "/Library/SyncedPreferences/com.apple.kvs/com.apple.KeyValueService-Production.sqlite"
    }

    /// The data under a key, of each app that has set it; nil when the database cannot be read now.
    static func data(forKey key: String, in path: String, budget: inout ScanBudget) throws(SQLiteError) -> [Data]? {
        let outcome = try SQLiteDatabase.read(path, budget: &budget) { connection throws(SQLiteError) in
            var values: [Data] = []
            try connection.expectTable(table)
            guard try connection.expect(columns, in: table) else { return values }
            _ = try connection.query(
                "SELECT ZPLISTDATAVALUE FROM \(table) WHERE ZKEY = ?1 LIMIT \(rowLimit)",
                [.text(key)]
            ) { row in
                let value = row.withBytes(0) { propertyListData($0) }
                if let value = value ?? nil { values.append(value) }
            }
            return values
        }
        switch outcome {
        case .read(let values): return values
        case .missing: return []
        case .inUse, .outOfBudget: return nil
        }
    }

    /// The bytes of a binary property list that is nothing but data: magic, the one object, and the table of offsets.
    /// `PropertyListSerialization` reads any other one too, for ever if its objects contain each other.
    static func propertyListData(_ list: UnsafeRawBufferPointer) -> Data? {
        let magic = Array("bplist00".utf8)
        guard list.starts(with: magic), list.count > magic.count else { return nil }
        let marker = list[magic.count]
        guard marker >> 4 == 4 else { return nil }
        var start = magic.count + 1
        var count = Int(marker & 15)
        if count == 15 {
            // The count is an integer object of its own: 2 to the power of the low half byte, in bytes.
            guard start < list.count, list[start] >> 4 == 1, list[start] & 15 <= 3 else { return nil }
            let size = 1 << Int(list[start] & 15)
            start += 1
            guard start + size <= list.count else { return nil }
            let number = list[start..<start + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            start += size
            count = Int(clamping: number)
        }
        return count <= list.count - start ? Data(list[start..<start + count]) : nil
    }
}
