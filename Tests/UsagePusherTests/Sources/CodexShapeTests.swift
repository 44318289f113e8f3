import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Shapes of Codex rollouts")
struct CodexShapeTests {
    @Test("rate limits of every generation", arguments: limits + plans)
    func rateLimits(shape: LogShape) throws {
        try expect(CodexLines.row("2026-09-18T11:00:00Z", shape.log), shape)
    }

    @Test("lines around the rate limits", arguments: lines)
    func wholeRollouts(shape: LogShape) throws { try expect(shape.log, shape) }

    private func expect(_ rollout: String, _ shape: LogShape) throws {
        let home = try SampleHome()
        try home.write(CodexLines.name(1), rollout)
        var source = CodexSource()
        let reading = source.read(in: home.environment(), at: sampleNow)
        #expect(reading.provider.summary == shape.reading)
    }

    private static let session = #""used_percent":21.5,"window_minutes":300,"resets_at":1789740900"#
    private static let weekly = #""used_percent":8,"window_minutes":10080,"resets_at":1790010000"#
    private static let usual = "session 21.5 until 18 14:15; weekly 8 until 21 17:00"

    private static let limits = [
        LogShape(
            "flat percentages have no reset and count for the length of their window",
            #"{"primary_used_percent":21.5,"secondary_used_percent":8,"primary_to_secondary_ratio_percent":33.3,"primary_window_minutes":300,"secondary_window_minutes":10080}"#,
            reads: "session 21.5; weekly 8"),
        LogShape(
            "resets_in_seconds counts from the timestamp of its line",
            #"{"primary":{"used_percent":21.5,"window_minutes":299,"resets_in_seconds":11700},"secondary":{"used_percent":8,"window_minutes":10079,"resets_in_seconds":280800}}"#,
            reads: usual),
        LogShape(
            "a reset may be an ISO 8601 string",
            #"{"primary":{"used_percent":21.5,"window_minutes":300,"resets_at":"2026-09-18T14:15:00Z"},"secondary":{"used_percent":8,"window_minutes":10080,"resets_at":"2026-09-21T17:00:00.25+00:00"}}"#,
            reads: usual),
        LogShape("a reset is a Unix timestamp", "{\"primary\":{\(session)},\"secondary\":{\(weekly)}}", reads: usual),
        LogShape(
            "credits that a plan lacks are not shown",
            "{\"primary\":{\(session)},\"secondary\":{\(weekly)},"
                + #""credits":{"has_credits":false,"unlimited":false,"balance":"0"},"plan_type":"plus"}"#,
            reads: usual + "; plan Plus"),
        LogShape(
            "null members of the 2026 format are ignored",
            #"{"limit_id":"codex","limit_name":null,"primary":{"#
                + session + #"},"secondary":{"# + weekly
                + #"},"credits":null,"individual_limit":null,"spend_control_reached":null,"plan_type":"prolite","rate_limit_reached_type":null}"#,
            reads: usual + "; plan Pro 5x"),
        LogShape(
            "unknown members of a window are ignored",
            "{\"limit_id\":\"codex\",\"primary\":{\(session),\"reached\":false},\"secondary\":{}}",
            reads: "session 21.5 until 18 14:15"),
        LogShape(
            "windows without a length are classified by position",
            #"{"primary":{"used_percent":7,"window_minutes":null,"resets_at":1789740900},"secondary":{"used_percent":9.0}}"#,
            reads: "session 7 until 18 14:15; weekly 9"),
        LogShape(
            "a weekly window in the primary slot is weekly",
            #"{"limit_id":"codex","primary":{"# + weekly
                + #"},"secondary":null,"credits":null,"plan_type":"go","rate_limit_reached_type":null}"#,
            reads: "weekly 8 until 21 17:00; plan Go"),
        LogShape(
            "reversed windows are classified by length",
            "{\"limit_id\":\"codex\",\"primary\":{\(weekly)},\"secondary\":{\(session)}}",
            reads: usual),
        LogShape(
            "a free plan has one window of 30 days",
            #"{"limit_id":"codex","primary":{"used_percent":34.0,"window_minutes":43200,"resets_at":1791460800},"secondary":null,"credits":{"has_credits":false,"unlimited":false,"balance":null},"plan_type":"free"}"#,
            reads: "43200 min 34 until 08 12:00; plan Free"),
        LogShape(
            "a team may have one window of a twelfth of a year",
            #"{"limit_id":"codex","primary":{"used_percent":61,"window_minutes":43800,"resets_at":1791460800},"secondary":null,"plan_type":"team"}"#,
            reads: "43800 min 61 until 08 12:00; plan Team"),
        LogShape(
            "a window already reset when logged has no percentage",
            #"{"primary":{"used_percent":97,"window_minutes":10080,"resets_at":1789725000},"secondary":null}"#,
            reads: "The weekly limit has been reset since the last reading"),
        LogShape(
            "null windows without credits are no reading",
            #"{"limit_id":"codex","primary":null,"secondary":null,"credits":null,"plan_type":null}"#,
            reads: "nothing"),
        LogShape("a limit id alone is no reading", #"{"limit_id":"codex"}"#, reads: "nothing"),
        LogShape("a list instead of an object is no reading", "[]", reads: "nothing"),
    ]

    private static let plans = [
        LogShape(
            "a model's own limit is labelled with the model",
            #"{"limit_id":"codex_bengalfox","limit_name":"GPT-5.3-Codex-Spark","primary":{"#
                + session
                + #"},"secondary":{"# + weekly + #"},"plan_type":"pro"}"#,
            reads:
                "Spark session session 21.5 until 18 14:15; Spark weekly weekly 8 until 21 17:00;"
                + " plan Pro 20x"),
        LogShape(
            "a rejected request without windows reports used-up credits",
            #"{"limit_id":"premium","limit_name":null,"primary":null,"secondary":null,"credits":{"has_credits":false,"unlimited":false,"balance":"0"},"individual_limit":null,"spend_control_reached":null,"plan_type":"business","rate_limit_reached_type":null}"#,
            reads: "plan Business; Your workspace credits are used up"),
        LogShape(
            "an empty credits object does not report used-up credits",
            #"{"limit_id":"premium","primary":null,"secondary":null,"credits":{},"plan_type":"plus"}"#,
            reads: "nothing"),
        LogShape(
            "credits may be unlimited",
            #"{"limit_id":"codex","primary":null,"secondary":null,"credits":{"has_credits":true,"unlimited":true,"balance":null},"plan_type":"enterprise_cbp_usage_based"}"#,
            reads: "plan Enterprise; credits unlimited"),
        LogShape(
            "a balance may be a numeric string",
            "{\"primary\":{\(session)},\"secondary\":{\(weekly)},"
                + #""credits":{"has_credits":true,"unlimited":false,"balance":"12.5000000000"},"plan_type":"plus"}"#,
            reads: usual + "; plan Plus; credits 12.5"),
        LogShape(
            "a reached limit is reported until its windows reset",
            #"{"limit_id":"codex","primary":{"used_percent":100,"window_minutes":10080,"resets_at":1790010000},"secondary":null,"credits":{"has_credits":false,"unlimited":false,"balance":"0"},"plan_type":"team","rate_limit_reached_type":"workspace_member_credits_depleted"}"#,
            reads: "weekly 100 until 21 17:00; plan Team; Your workspace credits are used up"),
        LogShape(
            "an unknown reached type is reported as a reached rate limit",
            #"{"limit_id":"codex","primary":{"used_percent":100.0,"window_minutes":300,"resets_at":1789740900},"secondary":null,"rate_limit_reached_type":"primary"}"#,
            reads: "session 100 until 18 14:15; Rate limit reached"),
        LogShape(
            "an individual limit is a window and a budget",
            "{\"primary\":{\(session)},\"secondary\":{\(weekly)},"
                + #""individual_limit":{"limit":"100","used":"12","remaining_percent":88,"resets_at":1791460800},"plan_type":"plus"}"#,
            reads: usual + "; Individual limit 12 until 08 12:00; plan Plus; 12 of 100 spent"),
        LogShape(
            "a spend control may be nested and in camel case",
            "{\"primary\":{\(session)},\"secondary\":{\(weekly)},"
                + #""spendControl":{"reached":true,"individualLimit":{"limit":"40","used":"40","remainingPercent":0,"resetAt":1791460800}}}"#,
            reads: usual + "; Individual limit 100 until 08 12:00; 40 of 40 spent;" + " Spend limit reached"),
        LogShape(
            "a reached spend control without an individual limit is reported",
            #"{"limit_id":"codex","primary":null,"secondary":null,"credits":null,"individual_limit":null,"spend_control_reached":true,"plan_type":"business"}"#,
            reads: "plan Business; Spend limit reached"),
        LogShape(
            "a reached spend control is reported beside windows",
            "{\"limit_id\":\"codex\",\"primary\":{\(session)},\"secondary\":{\(weekly)},"
                + #""individual_limit":null,"spend_control_reached":true,"plan_type":"business"}"#,
            reads: usual + "; plan Business; Spend limit reached"),
    ]

    private static let own = CodexLines.row(
        "2026-09-18T11:00:00Z", "{\"primary\":{\(session)},\"secondary\":{\(weekly)}}")
    private static func small(_ time: String) -> String {
        CodexLines.row(time, #"{"primary":{"used_percent":2,"window_minutes":300,"resets_at":1789740900}}"#)
    }
    private static func meta(_ fields: String) -> String {
        #"{"timestamp":"2026-09-18T11:30:00.100Z","type":"session_meta","payload":{"id":"01a0d000-0000-7000-8000-0000000000c1","timestamp":"2026-09-18T11:29:50.584Z","cwd":"/w""#
            + fields + "}}\n"
    }
    private static let parent = ",\"forked_from_id\":\"01a0d000-0000-7000-8000-0000000000p1\""
    private static let spawned =
        #","session_id":"p1","parent_thread_id":"p1","source":{"subagent":{"thread_spawn":{"parent_thread_id":"p1","depth":1}}},"thread_source":"subagent""#
    private static let failure =
        #"{"message":"You've hit your usage limit. Upgrade to Pro, or try again at Sep 20th, 2026 6:29 PM.","codex_error_info":"usage_limit_exceeded"}"#

    private static let lines = [
        LogShape(
            "a line may have an ordinal and no token counts",
            #"{"timestamp":"2026-09-18T11:00:00.123Z","ordinal":18,"type":"event_msg","payload":{"type":"token_count","rate_limits":{"limit_id":"codex","primary":{"#
                + session + "}}}}\n", reads: "session 21.5 until 18 14:15"),
        LogShape("null limits clear nothing", own + CodexLines.row("2026-09-18T11:10:00Z", "null"), reads: usual),
        LogShape(
            "null windows without credits clear nothing",
            own
                + CodexLines.row(
                    "2026-09-18T11:10:00Z",
                    #"{"limit_id":"codex","primary":null,"secondary":null,"plan_type":null}"#),
            reads: usual),
        LogShape(
            "the premium limit after a rejection leaves the main windows",
            own
                + CodexLines.row(
                    "2026-09-18T11:10:00Z",
                    #"{"limit_id":"premium","limit_name":null,"primary":null,"secondary":null,"credits":{"has_credits":false,"unlimited":false,"balance":"0"},"plan_type":"plus"}"#
                ), reads: usual + "; plan Plus"),
        LogShape(
            "a percentage may fall and a reset may move back",
            own
                + CodexLines.row(
                    "2026-09-18T11:10:00Z",
                    #"{"primary":{"used_percent":1,"window_minutes":300,"resets_at":1789740600}}"#),
            reads: "session 1 until 18 14:10"),
        LogShape(
            "an error with a retry time is no reading",
            own
                + #"{"timestamp":"2026-09-18T11:10:00Z","type":"event_msg","payload":{"type":"error","message":"You've hit your usage limit. Try again in 3 days 2 hours.","codex_error_info":"usage_limit_exceeded"}}"#
                + "\n"
                + #"{"timestamp":"2026-09-18T11:10:00Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"t","last_agent_message":null,"error":"#
                + failure + "}}\n", reads: usual),
        LogShape(
            "a line quoted in tool output or compacted history is no reading",
            own
                + #"{"timestamp":"2026-09-18T11:10:00Z","type":"response_item","payload":{"type":"function_call_output","output":"{\"type\":\"token_count\",\"rate_limits\":{\"primary\":{\"used_percent\":99}}}"}}"#
                + "\n"
                + #"{"timestamp":"2026-09-18T11:10:01Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"token_count","rate_limits":{"primary":{"used_percent":99}}}]}}"#
                + "\n", reads: usual),
        LogShape(
            "copied lines of a fork do not count",
            meta(parent) + meta("") + small("2026-09-18T11:30:00.150Z"), reads: "nothing"),
        LogShape(
            "a fork's own lines count",
            meta(parent) + meta("") + small("2026-09-18T11:30:00.150Z")
                + CodexLines.row("2026-09-18T11:40:00Z", "{\"primary\":{\(session)}}"),
            reads: "session 21.5 until 18 14:15"),
        LogShape(
            "copied lines of a spawned agent do not count",
            meta(spawned) + small("2026-09-18T11:30:01Z"), reads: "nothing"),
        LogShape(
            "copies with original timestamps lose to later lines",
            meta(spawned) + small("2026-09-18T10:30:00Z")
                + CodexLines.row("2026-09-18T11:40:00Z", "{\"primary\":{\(session)}}"),
            reads: "session 21.5 until 18 14:15"),
        LogShape(
            "a review starts without copies, so its first line counts",
            meta(#","source":{"subagent":"review"}"#) + small("2026-09-18T11:30:01Z"),
            reads: "session 2 until 18 14:15"),
        LogShape(
            "later lines of an approval review count",
            meta(
                #","session_id":"p1","parent_thread_id":"p1","source":{"subagent":{"other":"guardian"}},"thread_source":"guardian_review""#
            ) + small("2026-09-18T11:30:04Z"), reads: "session 2 until 18 14:15"),
    ]
}
