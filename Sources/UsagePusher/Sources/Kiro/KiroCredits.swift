import Essentials
import LocalFiles
import SQLiteReading

/// The forms in which Kiro states credits; docs/log-shapes.md has them side by side.
enum KiroCredits {
    /// By name: `<id>.json` and `messages.jsonl` of sessions, and the editor's executions, whose names are hashes.
    static func isWanted(_ name: String) -> Bool {
        name.hasSuffix(".json") && name != "session.json" || name == "messages.jsonl" || !name.contains(".")
    }

    /// Nil when the file is in use, or the budget has ended.
    static func content(
        of file: DirectoryWalk.File, _ budget: inout ScanBudget
    ) throws(FileError) -> CreditFiles.Content? {
        // A database without a byte has only been created.
        if file.name == "data.sqlite3" {
            return file.status.byteCount == 0 ? .init() : try database(file, &budget)
        }
        guard let document = try budget.readDocument(file.path) else { return .init() }
        if file.name == "messages.jsonl" { return lines(document.data, in: file) }
        let isSession = file.path.split(separator: "/").dropLast().last == "cli"
        return document.data.withUnsafeBytes { bytes in
            isSession ? session(bytes) : execution(bytes, in: file)
        }
    }

    private static func id(_ parts: String...) -> UInt64 {
        parts.reduce(into: ContentHash(seed: 0x6B69_726F)) { $0.add($1) }.value
    }

    /// Adds up a list whose elements have an amount and a unit; nil if an amount is missing or not a valid number.
    private static func sum(_ list: [JSONFields], _ amount: String) -> Double? {
        let credits = list.filter { $0.text("unit").map { $0 == "credit" } ?? true }
        guard !credits.isEmpty else { return 0 }
        return credits.reduce(0) { sum, element in
            guard let sum, let value = element.number(amount), value >= 0 else { return nil }
            return sum + value
        }
    }

    // MARK: Command line

    /// `sessions/cli/<id>.json`: a turn has an amount for each of its requests.
    private static func session(_ bytes: UnsafeRawBufferPointer) -> CreditFiles.Content {
        var content = CreditFiles.Content()
        var session = ""
        var updatedAt: Int64?
        var list: JSONCursor?
        var cursor = JSONCursor(bytes)
        guard cursor.enterObject() else { return content }
        while let key = cursor.nextKey() {
            switch key {
            case "session_id": session = cursor.text()?.displayText ?? ""
            case "updated_at": updatedAt = cursor.milliseconds()
            case "session_state":
                list = cursor.member("conversation_metadata") {
                    $0.member("user_turn_metadatas") { $0.branch() }
                }
            default: cursor.skip()
            }
        }
        guard var list, list.enterArray() else { return content }
        var index = 0
        while list.nextElement() {
            index += 1
            let turn = list.value()
            guard !list.isFailed, let fields = JSONFields(Data(turn)) else { continue }
            let usages = fields.list("metering_usage")
            guard !usages.isEmpty else { continue }
            content.add(
                CreditUse(
                    id: id("session", session, "\(index)"),
                    time: fields.date("end_timestamp") ?? date(updatedAt),
                    credits: sum(usages, "value")))
        }
        return content
    }

    private static func date(_ milliseconds: Int64?) -> Date? {
        milliseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
    }

    /// `data.sqlite3`: of a conversation only the last turn. The database has tokens of the login as well, in a table
    /// that is not read.
    private static func database(
        _ file: DirectoryWalk.File, _ budget: inout ScanBudget
    ) throws(FileError) -> CreditFiles.Content? {
        let outcome: SQLiteDatabase.Outcome<CreditFiles.Content>
        do throws(SQLiteError) {
            outcome = try SQLiteDatabase.read(file.path, budget: &budget) { connection throws(SQLiteError) in
                var content = CreditFiles.Content()
                let columns = ["conversation_id", "updated_at", "value"]
                try connection.expectTable("conversations_v2", "conversations")
                guard try connection.expect(columns, in: "conversations_v2") else { return content }
                let scan = try connection.rows(of: "conversations_v2", columns, limit: conversationLimit) { _, row in
                    guard let value = row.bytes(2, limit: 1_048_576),
                        let fields = JSONFields(value),
                        let turn = fields.fields("user_turn_metadata")
                    else { return }
                    let list = turn.list("usage_info")
                    guard !list.isEmpty else { return }
                    content.add(
                        CreditUse(
                            id: id("conversation", row.text(0) ?? ""),
                            time: row.integer(1).flatMap { JSONFields.date(unixTime: Double($0)) },
                            credits: sum(list, "value")))
                }
                content.leftOutCount += scan.tooLongCount
                if !scan.isComplete {
                    content.issue = "it has more than \(conversationLimit) conversations; the rest was left out"
                }
                return content
            }
        } catch {
            if case .file(let error) = error.cause { throw error }
            return CreditFiles.Content(issue: error.message)
        }
        switch outcome {
        case .read(let content): return content
        case .missing: return .init()
        case .inUse, .outOfBudget: return nil
        }
    }

    private static let conversationLimit = 10_000

    // MARK: Editor

    /// `sess_<id>/messages.jsonl`: a summary states its turn, whose execution began in an earlier line.
    private static func lines(_ data: Data, in file: DirectoryWalk.File) -> CreditFiles.Content {
        let session = String(file.path.split(separator: "/").dropLast().last ?? "")
        var turns: [String: CreditUse?] = [:]
        var execution = ""
        for line in data.split(separator: UInt8(ascii: "\n")) {
            // Most lines are of a chat.
            let isWanted = line.withUnsafeBytes { bytes in
                bytes.count <= lineLimit
                    && needles.contains {
                        $0.isIn(bytes)
                    }
            }
            guard isWanted, let fields = JSONFields(line: Data(line)),
                let payload = fields.fields("payload"), let type = payload.text("type")
            else { continue }
            if type == "turn_start" {
                execution = payload.text("executionId") ?? fields.text("id") ?? ""
            } else if type == "usage_summary" {
                let list = payload.list("promptTurnSummaries")
                guard list.contains(where: { $0.number("usage") != nil }) else { continue }
                turns[execution] = CreditUse(
                    id: id("turn", session, execution), time: fields.date("timestamp"),
                    credits: sum(list.filter { $0.number("usage") != nil }, "usage"))
            }
        }
        return turns.values.reduce(into: .init()) { $0.add($1) }
    }

    private static let lineLimit = 262_144
    private static let needles = [ByteNeedle("turn_start"), ByteNeedle("usage_summary")]

    /// An execution of the editor before 2026.
    private static func execution(_ bytes: UnsafeRawBufferPointer, in file: DirectoryWalk.File) -> CreditFiles.Content {
        var content = CreditFiles.Content()
        var cursor = JSONCursor(bytes)
        guard cursor.enterObject() else { return content }
        var credits: Double?
        var hasSummary = false
        var times: [Int64?] = [nil, nil, nil]
        while let key = cursor.nextKey() {
            if key == "usageSummary" {
                let list = cursor.value()
                guard !cursor.isFailed else { break }
                let elements =
                    JSONFields(Data(#"{"list":"#.utf8) + Data(list) + Data("}".utf8))?.list("list")
                    ?? []
                hasSummary = !elements.isEmpty
                credits = sum(elements, "usage")
            } else if key == "startTime" {
                times[0] = cursor.milliseconds()
            } else if key == "createdAt" {
                times[1] = cursor.milliseconds()
            } else if key == "timestamp" {
                times[2] = cursor.milliseconds()
            } else {
                cursor.skip()
            }
        }
        if hasSummary, !cursor.isFailed {
            let time = times.lazy.compactMap { $0 }.first
            let components = file.path.split(separator: "/").suffix(2).map(String.init)
            content.add(
                CreditUse(id: id("execution", components.joined(separator: "/")), time: date(time), credits: credits))
        }
        return content
    }
}
