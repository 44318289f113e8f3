#if PostgreSQL
    import CPostgreSQL
    import Essentials

    /// The result of one execution: its rows in binary form, numbered from 0.
    ///
    /// Unchecked: libpq does not change a result that it has returned, so that threads may read it together.
    package final class PostgreSQLRows: @unchecked Sendable {
        private let result: OpaquePointer
        package let count: Int

        /// Owns the result.
        init(_ result: OpaquePointer) {
            self.result = result
            count = Int(PQntuples(result))
        }

        deinit { PQclear(result) }

        /// Inserted, updated, deleted or selected rows; 0 for other statements.
        package var affectedRowCount: Int {
            PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
        }

        package func isNull(_ row: Int, _ column: Int) -> Bool {
            PQgetisnull(result, Int32(row), Int32(column)) == 1
        }

        /// Calls the body with the bytes of a value, which are valid during the call; nil is NULL.
        package func withBytes<Result, Failure: Error>(
            _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            if isNull(row, column) { return try body(nil) }
            let count = Int(PQgetlength(result, Int32(row), Int32(column)))
            return try body(UnsafeRawBufferPointer(start: PQgetvalue(result, Int32(row), Int32(column)), count: count))
        }

        /// A `bigint`, `integer` or `smallint`; nil is NULL.
        package func int64(_ row: Int, _ column: Int) -> Int64? {
            withBytes(row, column) { bytes in
                guard let bytes, let first = bytes.first else { return nil }
                precondition(bytes.count <= 8, "the column has no integers")
                return bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) {
                    $0 << 8 | Int64($1)
                }
            }
        }

        /// An `integer` or `smallint`; nil is NULL.
        package func int32(_ row: Int, _ column: Int) -> Int32? {
            int64(row, column).map { Int32($0) }
        }

        package func bool(_ row: Int, _ column: Int) -> Bool? {
            withBytes(row, column) { $0.map { $0.first == 1 } }
        }

        package func text(_ row: Int, _ column: Int) -> String? {
            withBytes(row, column) { $0.map { String(decoding: $0, as: UTF8.self) } }
        }

        package func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
            withBytes(row, column) { $0.map { Array($0) } }
        }
    }
#endif
