#if PostgreSQL
    import Essentials
    import KVStorePostgreSQL
    import ServerTestSupport
    import Testing

    @Suite("Parameters and rows", .enabled(if: TemporaryPostgreSQL.missing == nil, "PostgreSQL is not on this machine"))
    struct ParametersTests {
        private let connection: PostgreSQLConnection

        init() throws {
            connection = try PostgreSQLConnection(
                TemporaryPostgreSQL.shared().makeDatabase(), applicationName: "tests", timeout: .seconds(60))
        }

        private func execute(
            _ text: String, _ types: [PostgreSQLType], _ parameters: PostgreSQLParameters
        ) throws -> PostgreSQLRows {
            try connection.execute(PostgreSQLStatement(text, text, types), parameters, timeout: .seconds(60))
        }

        @Test("each type comes back as it was sent")
        func scalars() throws {
            var parameters = PostgreSQLParameters()
            parameters.append(Int64.min)
            parameters.append(Int32(-1))
            parameters.append(true)
            parameters.append("Straße \u{1F600}")
            parameters.append([0, 255, 10] as [UInt8])
            parameters.append("")
            parameters.append(Data())
            parameters.append(Int64?.none)
            let rows = try execute(
                "SELECT $1, $2, $3, $4, $5, $6, $7, $8, -2::smallint",
                [.int64, .int32, .bool, .text, .bytes, .text, .bytes, .int64], parameters)
            #expect(rows.count == 1 && rows.affectedRowCount == 1)
            #expect(rows.int64(0, 0) == .min)
            #expect(rows.int32(0, 1) == -1)
            #expect(rows.bool(0, 2) == true)
            #expect(rows.text(0, 3) == "Straße \u{1F600}")
            #expect(rows.bytes(0, 4) == [0, 255, 10])
            #expect(rows.text(0, 5) == "")
            #expect(rows.bytes(0, 6) == [])
            #expect(rows.isNull(0, 7) && rows.int64(0, 7) == nil && rows.bytes(0, 7) == nil)
            #expect(rows.int64(0, 8) == -2)
        }

        @Test("arrays come back element by element, also empty and with NULL")
        func arrays() throws {
            var parameters = PostgreSQLParameters()
            parameters.append(array: [1, nil, -3] as [Int64?])
            parameters.append(array: [7, 8, 9] as [Int32])
            parameters.append(array: [true, false, true])
            parameters.append(array: ["a", nil, ""])
            parameters.append(array: [[1, 2], [], [3]] as [[UInt8]])
            let rows = try execute(
                "SELECT * FROM unnest($1, $2, $3, $4, $5)",
                [.int64Array, .int32Array, .boolArray, .textArray, .bytesArray], parameters)
            #expect(rows.count == 3)
            #expect((0..<3).map { rows.int64($0, 0) } == [1, nil, -3])
            #expect((0..<3).map { rows.int32($0, 1) } == [7, 8, 9])
            #expect((0..<3).map { rows.bool($0, 2) } == [true, false, true])
            #expect((0..<3).map { rows.text($0, 3) } == ["a", nil, ""])
            #expect((0..<3).map { rows.bytes($0, 4) } == [[1, 2], [], [3]])

            var empty = PostgreSQLParameters()
            empty.append(array: [] as [[UInt8]])
            let length = try execute("SELECT cardinality($1)", [.bytesArray], empty)
            #expect(length.int32(0, 0) == 0)
        }

        @Test("a group of large values is one execution", arguments: [true, false])
        func large(_ usesPreparedStatements: Bool) throws {
            let connection = try PostgreSQLConnection(
                TemporaryPostgreSQL.shared().makeDatabase(), applicationName: "tests",
                timeout: .seconds(60), usesPreparedStatements: usesPreparedStatements)
            let values = (0..<64).map { [UInt8](repeating: $0, count: 100_000) }
            var parameters = PostgreSQLParameters(byteCapacity: 64 * 100_004 + 20)
            parameters.append(array: values)
            let echo = PostgreSQLStatement("echo", "SELECT unnest($1)", [.bytesArray])
            // More than the sockets' buffers in both directions at once.
            let results = connection.pipeline(
                Array(repeating: PostgreSQLExecution(echo, parameters), count: 4), timeout: .seconds(60))
            for rows in try results.map({ try $0.get() }) {
                #expect((0..<rows.count).map { rows.bytes($0, 0) } == values)
            }
        }
    }
#endif
