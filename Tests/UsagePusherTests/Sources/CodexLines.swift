import Foundation

/// Lines of Codex rollouts for tests.
enum CodexLines {
    static let session = utc("2026-09-18T14:15:00Z")
    static let weekly = utc("2026-09-21T17:00:00Z")

    static func window(_ percent: String, _ minutes: Int, _ reset: Date) -> String {
        "{\"used_percent\":\(percent),\"window_minutes\":\(minutes),"
            + "\"resets_at\":\(Int(reset.timeIntervalSince1970))}"
    }

    /// A `token_count` line; `limits` are the fields of `rate_limits`.
    static func row(_ time: String, _ limits: String) -> String {
        "{\"timestamp\":\"\(time)\",\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\","
            + "\"info\":null,\"rate_limits\":\(limits)}}\n"
    }

    /// A line of the main bucket with both windows.
    static func usual(
        _ time: String, _ sessionPercent: Double, _ weeklyPercent: Double,
        session: Date = session, weekly: Date = weekly
    ) -> String {
        row(
            time,
            "{\"limit_id\":\"codex\",\"primary\":\(window("\(sessionPercent)", 300, session)),"
                + "\"secondary\":\(window("\(weeklyPercent)", 10_080, weekly)),"
                + "\"plan_type\":\"plus\"}")
    }

    static func name(_ number: Int, day: String = "2026/09/18") -> String {
        let digits = String(repeating: "0", count: 12 - "\(number)".count) + "\(number)"
        return ".codex/sessions/\(day)/rollout-\(day.replacing("/", with: "-"))T10-00-00-"
            + "01a0d000-0000-7000-8000-\(digits).jsonl"
    }

    /// Rollouts as short lines: "11:10:00 LIMITS" for one of `row`, "meta MEMBERS" for a session's first, and "--"
    /// between two files.
    static func rollouts(_ text: String) -> [String] {
        text.split(separator: "\n").split(separator: "--").map { lines in
            lines.map { line in
                if line.hasPrefix("meta") {
                    return #"{"timestamp":"2026-09-18T11:30:00.100Z","type":"session_meta","payload":{"id":"01a0d000","#
                        + #""timestamp":"2026-09-18T11:29:50.584Z","cwd":"/w"\#(line.dropFirst(5))}}"# + "\n"
                }
                let parts = line.split(separator: " ", maxSplits: 1)
                return line.hasPrefix("{") ? line + "\n" : row("2026-09-18T\(parts[0])Z", String(parts[1]))
            }.joined()
        }
    }
}
