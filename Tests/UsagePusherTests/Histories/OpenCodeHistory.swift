import Foundation
import StoreTestSupport

@testable import UsagePusher

/// The databases of OpenCode and the files before them: answers of several steps, forks, copies of one table in the
/// other and of files in the database.
struct OpenCodeHistory: HistoryWriter {
    let log: any TokenLog = OpenCodeTokens()

    func write(_ history: inout History) {
        var sessions: [Session] = []
        let schema = """
            CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer, time_updated integer, data text);
            CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
            CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer, time_created integer, time_updated integer, data text);
            CREATE TABLE session (id text PRIMARY KEY, directory text NOT NULL, time_created integer NOT NULL);
            """
        history.execute(schema, in: OpenCodeDatabaseFile.path)
        for index in 0..<1 + history.below(4) {
            var session = Session(id: "ses_\(index)", &history)
            if let origin = sessions.randomElement(using: &history.random), history.chance(3) {
                session.fork(origin, &history)
            }
            for _ in 0..<1 + history.below(5) { session.answer(&history) }
            sessions.append(session)
        }
        for session in sessions where history.chance(4) { session.migrate(&history) }
    }
}

private enum OpenCodeDatabaseFile {
    static let path = ".local/share/opencode/opencode.db"
}

/// An answer, as a message states it, and its steps.
private struct Answer {
    let id: String
    let time: Int64
    let model: String
    var steps: [Step] = []
    /// Whether each step is stated as well.
    var hasParts = false
    /// As version 2 writes it.
    var type = "assistant"

    struct Step {
        var counts: TokenCounts
        /// In 1/10,000 US dollars; 0 for what is paid otherwise.
        var cost: Int
        /// Whether the output is stated with the reasoning, and a total that says so.
        var hasReasoningInside: Bool

        var members: JSON {
            let output = hasReasoningInside ? counts.output : counts.output - counts.reasoning
            let tokens = object([
                "total": hasReasoningInside ? counts.total : nil, "input": counts.input, "output": output,
                "reasoning": counts.reasoning,
                "cache": object(["read": counts.cacheRead, "write": counts.cacheWrite]),
            ])
            return object(["cost": Double(cost) / 10_000, "tokens": tokens])
        }
    }

    /// As a version writes it, with the tokens of the last step and the cost of all.
    func message(version: Int, directory: String, isRunning: Bool = false) -> JSON {
        var last = isRunning ? Step(counts: .init(), cost: 0, hasReasoningInside: false) : steps.last!
        last.cost = isRunning ? 0 : steps.reduce(0) { $0 + $1.cost }
        let names =
            version == 1
            ? object(["role": "assistant", "modelID": model, "path": object(["cwd": directory])])
            : object(["model": object(["id": model])])
        return names + object(["time": object(["created": time])]) + last.members
    }
}

private struct Session {
    let id: String
    private let directory: String
    private let version: Int
    private let created: Int64
    private var answers: [Answer] = []
    private var isFork = false

    private static let models = ["claude-sonnet-5", "gpt-5.5", "a-free-model"]

    init(id: String, _ history: inout History) {
        self.id = id
        directory = history.pick(["/src/app", "/src/web"])
        version = history.pick([1, 1, 2])
        created = history.tick()
        insert("session", ["'\(id)'", "'\(directory)'", "\(created)"], &history)
    }

    private func insert(_ table: String, _ values: [String], _ history: inout History) {
        history.execute(
            """
            INSERT INTO \(table) VALUES (\(values.joined(separator: ", ")))
            ON CONFLICT (id) DO UPDATE SET \(table == "session" ? "id = id" : "data = excluded.data");
            """, in: OpenCodeDatabaseFile.path)
    }

    mutating func answer(_ history: inout History) {
        var answer = Answer(id: "msg_\(history.unique())", time: history.tick(), model: history.pick(Self.models))
        // Version 2 does not keep steps.
        let count = version == 1 ? 1 + history.below(3) : 1
        for _ in 0..<count {
            answer.steps.append(
                Answer.Step(
                    counts: history.counts(),
                    cost: history.chance(3) ? 0 : history.below(10_000),
                    hasReasoningInside: history.chance(3)))
        }
        if version == 2, history.chance(6) { answer.type = "compaction" }
        answer.hasParts = count > 1 || version == 1 && history.chance(2)
        write(answer, isGrowing: history.chance(3), &history)
        answers.append(answer)
        for step in answer.steps {
            history.use(step.counts, at: answer.time, in: id, directory, answer.model, dollars: dollars(step.cost))
        }
    }

    private func write(_ answer: Answer, isGrowing: Bool = false, _ history: inout History) {
        insert(answer, isRunning: isGrowing, &history)
        if answer.hasParts {
            for step in answer.steps {
                let data = object(["type": "step-finish"]) + step.members
                insert("part", "prt_\(history.unique())", ["'\(answer.id)'", "'\(id)'"], answer.time, data, &history)
            }
        }
        if isGrowing { insert(answer, &history) }
    }

    private func insert(
        _ table: String, _ row: String, _ values: [String], _ time: Int64, _ data: JSON, _ history: inout History
    ) {
        insert(table, ["'\(row)'"] + values + ["\(time)", "\(time)", "'\(data.json)'"], &history)
    }

    private func insert(_ answer: Answer, isRunning: Bool = false, _ history: inout History) {
        let data = answer.message(version: version, directory: directory, isRunning: isRunning)
        if version == 1 {
            insert("message", answer.id, ["'\(id)'"], answer.time, data, &history)
        } else {
            insert("session_message", answer.id, ["'\(id)'", "'\(answer.type)'", "1"], answer.time, data, &history)
        }
    }

    /// Begins with the answers of another session under new ids.
    mutating func fork(_ origin: Session, _ history: inout History) {
        guard origin.version == version, origin.directory == directory else { return }
        isFork = true
        for answer in origin.answers.prefix(1 + history.below(3)) {
            let copy = Answer(
                id: "msg_\(history.unique())", time: answer.time, model: answer.model, steps: answer.steps,
                hasParts: answer.hasParts, type: answer.type)
            answers.append(copy)
            write(copy, &history)
        }
    }

    /// Copies version 1's answers into version 2's table, or leaves the files that they were in before.
    func migrate(_ history: inout History) {
        guard version == 1 else { return }
        // Files do not tell when their session began, and so not whether it is a fork.
        let isOfFiles = !isFork && history.chance(2)
        for answer in answers {
            if isOfFiles {
                let data = answer.message(version: 1, directory: directory)
                history.append(
                    (data + object(["id": answer.id, "sessionID": id])).json,
                    to: ".local/share/opencode/storage/message/\(id)/\(answer.id).json")
            } else {
                let data = answer.message(version: 2, directory: directory)
                insert("session_message", answer.id, ["'\(id)'", "'assistant'", "1"], answer.time, data, &history)
            }
        }
    }
}
