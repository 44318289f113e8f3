import CShims
package import Essentials

/// A row of a result, valid only inside the closure that received it. Nothing is copied that is not asked for.
///
/// Columns count from 0, and -1 is none. A value of another type than the one asked for, or of no column, is nil.
package struct SQLiteRow: ~Copyable {
    private let statement: SQLiteLibrary.Handle
    private let library: SQLiteLibrary

    init(_ statement: SQLiteLibrary.Handle, _ library: SQLiteLibrary) {
        self.statement = statement
        self.library = library
    }

    /// Also of no column.
    package func isNull(_ column: Int) -> Bool {
        ![SQLiteCode.integer, SQLiteCode.float, SQLiteCode.text, SQLiteCode.blob].contains(type(column))
    }

    package func integer(_ column: Int) -> Int64? {
        type(column) == SQLiteCode.integer ? library.call.column_int64(statement, CInt(column)) : nil
    }

    /// Also of an integer.
    package func double(_ column: Int) -> Double? {
        [SQLiteCode.float, SQLiteCode.integer].contains(type(column))
            ? library.call.column_double(statement, CInt(column)) : nil
    }

    package func text(_ column: Int) -> String? {
        guard type(column) == SQLiteCode.text else { return nil }
        return withBytes(column) { String(decoding: $0, as: UTF8.self) }
    }

    /// The text of a text, or of a blob in UTF-8 or UTF-16, as editors that keep JSON in blobs write it.
    package func decodedText(_ column: Int) -> String? {
        withBytes(column) { StoredText.decode($0) } ?? nil
    }

    /// Nil also when there are more than `limit`.
    package func bytes(_ column: Int, limit: Int) -> Data? {
        withBytes(column) { $0.count <= limit ? Data($0) : nil } ?? nil
    }

    /// Passes the bytes of a blob, or of a text in UTF-8.
    package func withBytes<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        let type = type(column)
        guard type == SQLiteCode.text || type == SQLiteCode.blob else { return nil }
        // In this order: the first call may convert the value, the second counts what it became.
        let read = type == SQLiteCode.text ? library.call.column_text : library.call.column_blob
        let start = read(statement, CInt(column))
        let count = start == nil ? 0 : Int(library.call.column_bytes(statement, CInt(column)))
        return body(UnsafeRawBufferPointer(start: start, count: count))
    }

    private func type(_ column: Int) -> CInt {
        column < 0 ? 0 : CInt(exactly: column).map { library.call.column_type(statement, $0) } ?? 0
    }
}

/// A parameter of a query.
package enum SQLiteValue: Sendable, Hashable {
    case integer(Int64)
    case text(String)
}

/// Text of which only the bytes are kept.
package enum StoredText {
    /// UTF-16 begins with a byte order mark or, as it never is in UTF-8, has a zero in its first character. Nil when
    /// the bytes are no text.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> String? {
        let start = (bytes.first, bytes.dropFirst().first)
        switch start {
        case (0xFF, 0xFE): return utf16(bytes, from: 2) { UInt16($0) | UInt16($1) << 8 }
        case (0xFE, 0xFF): return utf16(bytes, from: 2) { UInt16($0) << 8 | UInt16($1) }
        case (.some, 0): return utf16(bytes, from: 0) { UInt16($0) | UInt16($1) << 8 }
        case (0, .some): return utf16(bytes, from: 0) { UInt16($0) << 8 | UInt16($1) }
        default:
            let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
            return String(validating: bytes.dropFirst(mark), as: UTF8.self)
        }
    }

    private static func utf16(
        _ bytes: UnsafeRawBufferPointer, from start: Int, unit: (UInt8, UInt8) -> UInt16
    ) -> String? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let units = stride(from: start, to: bytes.count, by: 2).map {
            unit(bytes[$0], bytes[$0 + 1])
        }
        return String(validating: units, as: UTF16.self)
    }
}
