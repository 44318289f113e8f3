import Foundation
import StoreTestSupport

@testable import UsagePusher

/// The database of Goose before and since it has a ledger, and one of an earlier place with a part of it or with other
/// sessions of the same names.
struct GooseHistory: HistoryWriter {
    let log: any TokenLog = GooseTokens()

    func write(_ history: inout History) {
        let paths = ["", "Block/"].map { ".local/share/\($0)goose/sessions/sessions.db" }
        // Sums of sessions with the same names could not be told apart.
        let hasTwo = history.chance(6)
        var database = Database(path: paths[0], isNew: hasTwo, &history)
        database.use(&history)
        if hasTwo {
            var earlier = Database(path: paths[1], isNew: true, &history)
            earlier.use(&history)
        } else if history.chance(4) {
            database.copy(to: paths[1], &history)
        }
        database.addSums(&history)
    }
}

private struct Database {
    private let path: String
    private let isNew: Bool
    private let hasCaches: Bool
    private var hasLedger: Bool
    private var sessions: [Session] = []
    /// What has been written, to be written elsewhere.
    private var statements: [String] = []

    private static let models = ["claude-sonnet-5", "gemini-2.5-pro", "gpt-5.5", "somebody-elses"]

    private struct Session {
        var id: String
        var created: Int64
        var model: String
        /// What is in no ledger, as of the last change.
        var time: Int64 = 0
        var sum = TokenCounts()
        var cost = 0
        var isInLedger = false
    }

    /// - Parameter isNew: whether there was no version without a ledger.
    init(path: String, isNew: Bool, _ history: inout History) {
        self.path = path
        self.isNew = isNew
        hasLedger = isNew || history.chance(2)
        hasCaches = hasLedger || history.chance(2)
        execute(
            """
            CREATE TABLE sessions (id TEXT PRIMARY KEY, working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP,
            input_tokens INTEGER, accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER,
            accumulated_output_tokens INTEGER, model_config_json TEXT);
            """, &history)
        if hasCaches { addCaches(&history) }
        if hasLedger { addLedger(&history) }
    }

    private mutating func execute(_ sql: String, _ history: inout History) {
        statements.append(sql)
        history.execute(sql, in: path)
    }

    private mutating func addCaches(_ history: inout History) {
        let columns = [
            "accumulated_cache_read_tokens INTEGER", "accumulated_cache_write_tokens INTEGER", "accumulated_cost REAL",
        ]
        let sql = columns.map { "ALTER TABLE sessions ADD COLUMN \($0);" }.joined()
        execute(sql, &history)
    }

    private mutating func addLedger(_ history: inout History) {
        execute(
            """
            CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
            created_timestamp INTEGER NOT NULL, model TEXT, input_tokens INTEGER, output_tokens INTEGER, total_tokens INTEGER,
            cache_read_tokens INTEGER, cache_write_tokens INTEGER, cost REAL, cost_source TEXT, is_compaction INTEGER DEFAULT 0);
            """, &history)
    }

    mutating func use(_ history: inout History) {
        for _ in 0..<1 + history.below(8) { answer(&history) }
        if !isNew, history.chance(4) { importSession(&history) }
        guard hasCaches, !hasLedger, history.chance(2) else { return }
        hasLedger = true
        addLedger(&history)
        for _ in 0..<1 + history.below(4) { answer(&history) }
    }

    /// What an answer has used, in the session that it is of.
    private mutating func answer(_ history: inout History) {
        let time = history.tick() / 1_000 * 1_000
        let index = history.below(sessions.count + 1)
        if index == sessions.count { execute(begin(time, &history), &history) }
        let model = hasLedger ? history.pick(Self.models) : sessions[index].model
        let isOfGoogle = model.hasPrefix("gemini")
        var counts = history.counts(hasWrites: hasCaches, hasReasoning: isOfGoogle)
        if !hasCaches {
            counts.input += counts.cacheRead
            counts.cacheRead = 0
        }
        let cost = hasCaches ? history.cost() : 0
        if hasLedger {
            if !sessions[index].isInLedger { carry(index, time, &history) }
            insert(counts, cost, time, model, session: sessions[index].id, &history)
        } else {
            sessions[index].sum += counts
            sessions[index].cost += cost
        }
        execute(update(index, time, counts, cost), &history)
    }

    private mutating func begin(_ time: Int64, _ history: inout History) -> String {
        let id = "20261120_\(sessions.count + 1)"
        let session = Session(id: id, created: time, model: history.pick(Self.models))
        sessions.append(session)
        let at = Self.text(time)
        return """
            INSERT INTO sessions (id, working_dir, created_at, updated_at, model_config_json)
            VALUES ('\(id)', '/src/app', \(at), \(at), '{"model_name":"\(session.model)"}');
            """
    }

    /// A session of some days ago, from a file of an earlier version.
    private mutating func importSession(_ history: inout History) {
        let time = history.now / 1_000 * 1_000 - 300_000_000
        let sql = begin(time, &history)
        let counts = history.counts(hasWrites: false, hasReasoning: false)
        let sum = TokenCounts(input: counts.prompt, output: counts.output)
        sessions[sessions.count - 1].sum = sum
        execute(sql + update(sessions.count - 1, time, sum, 0), &history)
    }

    private static func text(_ time: Int64) -> String {
        "'" + iso(time).prefix(19).replacing("T", with: " ") + "'"
    }

    /// Writes into the ledger what a session has used before there was one.
    private mutating func carry(_ index: Int, _ time: Int64, _ history: inout History) {
        let session = sessions[index]
        sessions[index].isInLedger = true
        guard session.sum != TokenCounts() else { return }
        insert(session.sum, session.cost, time, nil, session: session.id, source: "carried_forward", &history)
        use(session, at: session.created, &history)
    }

    private func use(_ session: Session, at time: Int64, _ history: inout History) {
        history.use(
            session.sum, at: time, in: session.id, "/src/app", session.model, dollars: dollars(session.cost),
            isCoarse: true)
    }

    private mutating func insert(
        _ counts: TokenCounts, _ cost: Int, _ time: Int64, _ model: String?, session: String,
        source: String = "estimated", _ history: inout History
    ) {
        execute(
            """
            INSERT INTO usage_ledger (session_id, created_timestamp, model, input_tokens, output_tokens, total_tokens,
            cache_read_tokens, cache_write_tokens, cost, cost_source) VALUES ('\(session)', \(time / 1_000),
            \(model.map { "'\($0)'" } ?? "NULL"), \(counts.prompt), \(counts.output - counts.reasoning), \(counts.total),
            \(counts.cacheRead), \(counts.cacheWrite), \(Double(cost) / 10_000), '\(source)');
            """, &history)
        guard let model else { return }
        history.use(counts, at: time, in: session, "/src/app", model, dollars: dollars(cost))
    }

    /// Adds an answer to the sums of its session.
    private mutating func update(_ index: Int, _ time: Int64, _ counts: TokenCounts, _ cost: Int) -> String {
        sessions[index].time = time
        var added = [
            ("total", "\(counts.total)"), ("input", "\(counts.prompt)"),
            ("output", "\(counts.output - counts.reasoning)"),
        ]
        if hasCaches {
            added += [
                ("cache_read", "\(counts.cacheRead)"), ("cache_write", "\(counts.cacheWrite)"),
            ]
        }
        var sets = added.map { name, count in
            "accumulated_\(name)_tokens = ifnull(accumulated_\(name)_tokens, 0) + \(count)"
        }
        if hasCaches {
            sets.append("accumulated_cost = round(ifnull(accumulated_cost, 0) + \(Double(cost) / 10_000), 4)")
        }
        let members =
            (sets + ["input_tokens = \(counts.prompt)", "updated_at = \(Self.text(time))"])
            .joined(separator: ", ")
        return "UPDATE sessions SET \(members) WHERE id = '\(sessions[index].id)';"
    }

    /// Writes the same to another place, perhaps not all of it.
    func copy(to path: String, _ history: inout History) {
        for sql in statements.prefix(1 + history.below(statements.count)) {
            history.execute(sql, in: path)
        }
    }

    /// What is in no ledger counts as the sums of its sessions.
    func addSums(_ history: inout History) {
        for session in sessions where session.sum != TokenCounts() && !session.isInLedger {
            use(session, at: session.time, &history)
        }
    }
}
