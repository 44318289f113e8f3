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
        history.add(.execute(OpenCodeDatabaseFile.path, sql: schema))
        for index in 0..<1 + history.random.below(4) {
            var session = Session(id: "ses_\(index)", &history)
            if let origin = sessions.randomElement(using: &history.random), history.random.chance(3) {
                session.fork(origin, &history)
            }
            for _ in 0..<1 + history.random.below(5) { session.answer(&history) }
            sessions.append(session)
        }
        for session in sessions where history.random.chance(4) { session.migrate(&history) }
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

        var members: [(String, String?)] {
            let output = hasReasoningInside ? counts.output : counts.output - counts.reasoning
            let total = hasReasoningInside ? "\(counts.total)" : nil
            let cache = Written.object(("read", "\(counts.cacheRead)"), ("write", "\(counts.cacheWrite)"))
            return [
                ("cost", "\(Double(cost) / 10_000)"),
                (
                    "tokens",
                    Written.object(
                        ("total", total), ("input", "\(counts.input)"), ("output", "\(output)"),
                        ("reasoning", "\(counts.reasoning)"), ("cache", cache))
                ),
            ]
        }
    }

    /// As a version writes it, with the tokens of the last step and the cost of all.
    func message(version: Int, directory: String, isRunning: Bool = false) -> String {
        var last = isRunning ? Step(counts: .init(), cost: 0, hasReasoningInside: false) : steps.last!
        last.cost = isRunning ? 0 : steps.reduce(0) { $0 + $1.cost }
        let times = Written.object(("created", "\(time)"))
        let model =
            version == 1
            ? ("modelID", Written.text(self.model))
            : ("model", Written.object(("id", Written.text(self.model))))
        let path = Written.object(("cwd", Written.text(directory)))
        return Written.object(
            [
                ("role", version == 1 ? Written.text("assistant") : nil), model,
                ("path", version == 1 ? path : nil), ("time", times),
            ] + last.members)
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
        directory = history.random.pick(["/src/app", "/src/web"])
        version = history.random.pick([1, 1, 2])
        created = history.tick()
        insert("session", ["'\(id)'", "'\(directory)'", "\(created)"], &history)
    }

    private func insert(_ table: String, _ values: [String], _ history: inout History) {
        history.add(
            .execute(
                OpenCodeDatabaseFile.path,
                sql: """
                    INSERT INTO \(table) VALUES (\(values.joined(separator: ", ")))
                    ON CONFLICT (id) DO UPDATE SET \(table == "session" ? "id = id" : "data = excluded.data");
                    """))
    }

    mutating func answer(_ history: inout History) {
        var answer = Answer(
            id: "msg_\(history.unique())", time: history.tick(),
            model: history.random.pick(Self.models))
        // Version 2 does not keep steps.
        let count = version == 1 ? 1 + history.random.below(3) : 1
        for _ in 0..<count {
            answer.steps.append(
                Answer.Step(
                    counts: history.counts(),
                    cost: history.random.chance(3) ? 0 : history.random.below(10_000),
                    hasReasoningInside: history.random.chance(3)))
        }
        if version == 2, history.random.chance(6) { answer.type = "compaction" }
        answer.hasParts = count > 1 || version == 1 && history.random.chance(2)
        write(answer, isGrowing: history.random.chance(3), &history)
        answers.append(answer)
        for step in answer.steps {
            history.truth.requests.append(
                TrueHistory.Request(
                    time: answer.time, session: id, project: directory, model: answer.model, counts: step.counts,
                    ownCost: step.cost > 0 ? Double(step.cost) / 10_000 : nil))
        }
    }

    private func write(_ answer: Answer, isGrowing: Bool = false, _ history: inout History) {
        insert(answer, isRunning: isGrowing, &history)
        if answer.hasParts {
            for step in answer.steps {
                let data = Written.object([("type", Written.text("step-finish"))] + step.members)
                insert(
                    "part",
                    [
                        "'prt_\(history.unique())'", "'\(answer.id)'", "'\(id)'", "\(answer.time)",
                        "\(answer.time)", "'\(data)'",
                    ], &history)
            }
        }
        if isGrowing { insert(answer, &history) }
    }

    private func insert(_ answer: Answer, isRunning: Bool = false, _ history: inout History) {
        let data = answer.message(version: version, directory: directory, isRunning: isRunning)
        let times = ["\(answer.time)", "\(answer.time)"]
        if version == 1 {
            insert("message", ["'\(answer.id)'", "'\(id)'"] + times + ["'\(data)'"], &history)
        } else {
            insert(
                "session_message",
                ["'\(answer.id)'", "'\(id)'", "'\(answer.type)'", "1"] + times + ["'\(data)'"],
                &history)
        }
    }

    /// Begins with the answers of another session under new ids.
    mutating func fork(_ origin: Session, _ history: inout History) {
        guard origin.version == version, origin.directory == directory else { return }
        isFork = true
        for answer in origin.answers.prefix(1 + history.random.below(3)) {
            let copy = Answer(
                id: "msg_\(history.unique())", time: answer.time, model: answer.model,
                steps: answer.steps,
                hasParts: answer.hasParts, type: answer.type)
            answers.append(copy)
            write(copy, &history)
        }
    }

    /// Copies version 1's answers into version 2's table, or leaves the files that they were in before.
    func migrate(_ history: inout History) {
        guard version == 1 else { return }
        // Files do not tell when their session began, and so not whether it is a fork.
        let isOfFiles = !isFork && history.random.chance(2)
        for answer in answers {
            if isOfFiles {
                var data = answer.message(version: 1, directory: directory)
                data.removeLast()
                history.append(
                    data + ",\"id\":\"\(answer.id)\",\"sessionID\":\"\(id)\"}",
                    to: ".local/share/opencode/storage/message/\(id)/\(answer.id).json")
            } else {
                let data = answer.message(version: 2, directory: directory)
                insert(
                    "session_message",
                    [
                        "'\(answer.id)'", "'\(id)'", "'assistant'", "1", "\(answer.time)",
                        "\(answer.time)", "'\(data)'",
                    ], &history)
            }
        }
    }
}
