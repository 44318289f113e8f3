import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Shapes of Codex rollouts")
struct CodexShapeTests {
    @Test("rate limits of every generation", arguments: limits + plans)
    func rateLimits(shape: LogShape) throws { try expect([CodexLines.row("2026-09-18T11:00:00Z", shape.log)], shape) }

    @Test("lines around the rate limits", arguments: lines)
    func wholeRollouts(shape: LogShape) throws { try expect(CodexLines.rollouts(shape.log), shape) }

    private func expect(_ rollouts: [String], _ shape: LogShape) throws {
        let home = try SampleHome()
        for (index, rollout) in rollouts.enumerated() { try home.write(CodexLines.name(index), rollout) }
        #expect(home.reading(of: CodexSource()).provider.summary == shape.reading)
    }

    private static let session = #""used_percent":21.5,"window_minutes":300,"resets_at":1789740900"#
    private static let weekly = #""used_percent":8,"window_minutes":10080,"resets_at":1790010000"#
    private static let usual = "session 21.5 until 18 14:15; weekly 8 until 21 17:00"

    private static let limits = LogShape.table(
        #"""
        # flat percentages have no reset and count for the length of their window -> session 21.5; weekly 8
        {"primary_used_percent":21.5,"secondary_used_percent":8,"primary_to_secondary_ratio_percent":33.3,"primary_window_minutes":300,"secondary_window_minutes":10080}
        # resets_in_seconds counts from the timestamp of its line -> \#(usual)
        {"primary":{"used_percent":21.5,"window_minutes":299,"resets_in_seconds":11700},"secondary":{"used_percent":8,"window_minutes":10079,"resets_in_seconds":280800}}
        # a reset may be an ISO 8601 string -> \#(usual)
        {"primary":{"used_percent":21.5,"window_minutes":300,"resets_at":"2026-09-18T14:15:00Z"},"secondary":{"used_percent":8,"window_minutes":10080,"resets_at":"2026-09-21T17:00:00.25+00:00"}}
        # a reset is a Unix timestamp -> \#(usual)
        {"primary":{\#(session)},"secondary":{\#(weekly)}}
        # credits that a plan lacks are not shown -> \#(usual); plan Plus
        {"primary":{\#(session)},"secondary":{\#(weekly)},"credits":{"has_credits":false,"unlimited":false,"balance":"0"},"plan_type":"plus"}
        # null members of the 2026 format are ignored -> \#(usual); plan Pro 5x
        {"limit_id":"codex","limit_name":null,"primary":{\#(session)},"secondary":{\#(weekly)},"credits":null,"individual_limit":null,"spend_control_reached":null,"plan_type":"prolite","rate_limit_reached_type":null}
        # unknown members of a window are ignored -> session 21.5 until 18 14:15
        {"limit_id":"codex","primary":{\#(session),"reached":false},"secondary":{}}
        # windows without a length are classified by position -> session 7 until 18 14:15; weekly 9
        {"primary":{"used_percent":7,"window_minutes":null,"resets_at":1789740900},"secondary":{"used_percent":9.0}}
        # a weekly window in the primary slot is weekly -> weekly 8 until 21 17:00; plan Go
        {"limit_id":"codex","primary":{\#(weekly)},"secondary":null,"credits":null,"plan_type":"go","rate_limit_reached_type":null}
        # reversed windows are classified by length -> \#(usual)
        {"limit_id":"codex","primary":{\#(weekly)},"secondary":{\#(session)}}
        # a free plan has one window of 30 days -> 43200 min 34 until 08 12:00; plan Free
        {"limit_id":"codex","primary":{"used_percent":34.0,"window_minutes":43200,"resets_at":1791460800},"secondary":null,"credits":{"has_credits":false,"unlimited":false,"balance":null},"plan_type":"free"}
        # a team may have one window of a twelfth of a year -> 43800 min 61 until 08 12:00; plan Team
        {"limit_id":"codex","primary":{"used_percent":61,"window_minutes":43800,"resets_at":1791460800},"secondary":null,"plan_type":"team"}
        # a window already reset when logged has no percentage -> The weekly limit has been reset since the last reading
        {"primary":{"used_percent":97,"window_minutes":10080,"resets_at":1789725000},"secondary":null}
        # null windows without credits are no reading -> nothing
        {"limit_id":"codex","primary":null,"secondary":null,"credits":null,"plan_type":null}
        # a limit id alone is no reading -> nothing
        {"limit_id":"codex"}
        # a list instead of an object is no reading -> nothing
        []
        """#)

    private static let plans = LogShape.table(
        #"""
        # a model's own limit is labelled with the model -> Spark session session 21.5 until 18 14:15; Spark weekly weekly 8 until 21 17:00; plan Pro 20x
        {"limit_id":"codex_bengalfox","limit_name":"GPT-5.3-Codex-Spark","primary":{\#(session)},"secondary":{\#(weekly)},"plan_type":"pro"}
        # a rejected request without windows reports used-up credits -> plan Business; Your workspace credits are used up
        {"limit_id":"premium","limit_name":null,"primary":null,"secondary":null,"credits":{"has_credits":false,"unlimited":false,"balance":"0"},"individual_limit":null,"spend_control_reached":null,"plan_type":"business","rate_limit_reached_type":null}
        # an empty credits object does not report used-up credits -> nothing
        {"limit_id":"premium","primary":null,"secondary":null,"credits":{},"plan_type":"plus"}
        # credits may be unlimited -> plan Enterprise; credits unlimited
        {"limit_id":"codex","primary":null,"secondary":null,"credits":{"has_credits":true,"unlimited":true,"balance":null},"plan_type":"enterprise_cbp_usage_based"}
        # a balance may be a numeric string -> \#(usual); plan Plus; credits 12.5
        {"primary":{\#(session)},"secondary":{\#(weekly)},"credits":{"has_credits":true,"unlimited":false,"balance":"12.5000000000"},"plan_type":"plus"}
        # a reached limit is reported until its windows reset -> weekly 100 until 21 17:00; plan Team; Your workspace credits are used up
        {"limit_id":"codex","primary":{"used_percent":100,"window_minutes":10080,"resets_at":1790010000},"secondary":null,"credits":{"has_credits":false,"unlimited":false,"balance":"0"},"plan_type":"team","rate_limit_reached_type":"workspace_member_credits_depleted"}
        # an unknown reached type is reported as a reached rate limit -> session 100 until 18 14:15; Rate limit reached
        {"limit_id":"codex","primary":{"used_percent":100.0,"window_minutes":300,"resets_at":1789740900},"secondary":null,"rate_limit_reached_type":"primary"}
        # an individual limit is a window and a budget -> \#(usual); Individual limit 12 until 08 12:00; plan Plus; 12 of 100 spent
        {"primary":{\#(session)},"secondary":{\#(weekly)},"individual_limit":{"limit":"100","used":"12","remaining_percent":88,"resets_at":1791460800},"plan_type":"plus"}
        # a spend control may be nested and in camel case -> \#(usual); Individual limit 100 until 08 12:00; 40 of 40 spent; Spend limit reached
        {"primary":{\#(session)},"secondary":{\#(weekly)},"spendControl":{"reached":true,"individualLimit":{"limit":"40","used":"40","remainingPercent":0,"resetAt":1791460800}}}
        # a reached spend control without an individual limit is reported -> plan Business; Spend limit reached
        {"limit_id":"codex","primary":null,"secondary":null,"credits":null,"individual_limit":null,"spend_control_reached":true,"plan_type":"business"}
        # a reached spend control is reported beside windows -> \#(usual); plan Business; Spend limit reached
        {"limit_id":"codex","primary":{\#(session)},"secondary":{\#(weekly)},"individual_limit":null,"spend_control_reached":true,"plan_type":"business"}
        """#)

    private static let own = "11:00:00 {\"primary\":{\(session)},\"secondary\":{\(weekly)}}"
    private static let later = "11:40:00 {\"primary\":{\(session)}}"
    private static let small = #"{"primary":{"used_percent":2,"window_minutes":300,"resets_at":1789740900}}"#
    private static let fork = #"meta ,"forked_from_id":"p1""#
    private static let spawned =
        #"meta ,"session_id":"p1","parent_thread_id":"p1","source":{"subagent":{"thread_spawn":{"parent_thread_id":"p1","depth":1}}},"thread_source":"subagent""#

    private static let lines = LogShape.table(
        #"""
        # a line may have an ordinal and no token counts -> session 21.5 until 18 14:15
        {"timestamp":"2026-09-18T11:00:00.123Z","ordinal":18,"type":"event_msg","payload":{"type":"token_count","rate_limits":{"limit_id":"codex","primary":{\#(session)}}}}
        # null limits clear nothing -> \#(usual)
        \#(own)
        11:10:00 null
        # null windows without credits clear nothing -> \#(usual)
        \#(own)
        11:10:00 {"limit_id":"codex","primary":null,"secondary":null,"plan_type":null}
        # the premium limit after a rejection leaves the main windows -> \#(usual); plan Plus
        \#(own)
        11:10:00 {"limit_id":"premium","limit_name":null,"primary":null,"secondary":null,"credits":{"has_credits":false,"unlimited":false,"balance":"0"},"plan_type":"plus"}
        # a percentage may fall and a reset may move back -> session 1 until 18 14:10
        \#(own)
        11:10:00 {"primary":{"used_percent":1,"window_minutes":300,"resets_at":1789740600}}
        # an error with a retry time is no reading -> \#(usual)
        \#(own)
        {"timestamp":"2026-09-18T11:10:00Z","type":"event_msg","payload":{"type":"error","message":"You've hit your usage limit. Try again in 3 days 2 hours.","codex_error_info":"usage_limit_exceeded"}}
        {"timestamp":"2026-09-18T11:10:00Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"t","last_agent_message":null,"error":{"message":"You've hit your usage limit. Upgrade to Pro, or try again at Sep 20th, 2026 6:29 PM.","codex_error_info":"usage_limit_exceeded"}}}
        # a line quoted in tool output or compacted history is no reading -> \#(usual)
        \#(own)
        {"timestamp":"2026-09-18T11:10:00Z","type":"response_item","payload":{"type":"function_call_output","output":"{\"type\":\"token_count\",\"rate_limits\":{\"primary\":{\"used_percent\":99}}}"}}
        {"timestamp":"2026-09-18T11:10:01Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"token_count","rate_limits":{"primary":{"used_percent":99}}}]}}
        # copied lines of a fork do not count -> nothing
        \#(fork)
        meta
        11:30:00.150 \#(small)
        # a fork's own lines count -> session 21.5 until 18 14:15
        \#(fork)
        meta
        11:30:00.150 \#(small)
        \#(later)
        # copied lines of a spawned agent do not count -> nothing
        \#(spawned)
        11:30:01 \#(small)
        # copied lines before a spawned agent's first ordinal do not count -> \#(usual)
        \#(own)
        --
        meta ,"subagent_history_start_ordinal":3
        11:30:01 \#(small)
        # lines after another session's first are copies -> nothing
        meta
        {"timestamp":"2026-09-18T11:30:00.100Z","type":"session_meta","payload":{"id":"p1"}}
        11:30:00.150 \#(small)
        # lines after one's own first again are not -> session 2 until 18 14:15
        meta
        meta
        11:30:00.150 \#(small)
        # copies with original timestamps lose to later lines -> session 21.5 until 18 14:15
        \#(spawned)
        10:30:00 \#(small)
        \#(later)
        # a review starts without copies, so its first line counts -> session 2 until 18 14:15
        meta ,"source":{"subagent":"review"}
        11:30:01 \#(small)
        # later lines of an approval review count -> session 2 until 18 14:15
        meta ,"session_id":"p1","parent_thread_id":"p1","source":{"subagent":{"other":"guardian"}},"thread_source":"guardian_review"
        11:30:04 \#(small)
        # a row with one window leaves the plan of the last one that states it -> session 40 until 18 14:15; plan Plus
        11:00:00 {"primary":{\#(session)},"secondary":{\#(weekly)},"plan_type":"plus"}
        11:30:00 {"limit_id":"codex","primary":{"used_percent":40,"window_minutes":300,"resets_at":1789740900},"secondary":null,"plan_type":null,"credits":null}
        11:40:00 null
        # a later reset replaces the window even with a smaller percent -> session 2 until 18 16:10
        \#(own)
        11:10:00 {"primary":{"used_percent":2,"window_minutes":300,"resets_at":1789747800}}
        # a kind of window missing from newer lines is not reported as reset -> weekly 8 until 21 17:00
        08:00:00 {"primary":{"used_percent":80,"window_minutes":300,"resets_at":1789722000}}
        11:00:00 {"primary":{\#(weekly)},"secondary":null}
        # a limit reached in an expired window is no longer reported -> The session limit has been reset since the last reading
        05:00:00 {"primary":{"used_percent":100,"window_minutes":300,"resets_at":1789722000},"rate_limit_reached_type":"rate_limit_reached"}
        # a spending limit whose time is over is not shown -> no numbers
        11:00:00 {"limitId":"premium","spendControl":{"reached":true,"individualLimit":{"limit":"10","used":10,"resetAt":1789000000}}}
        # a reset in milliseconds is read -> session 5 until 18 14:15
        11:00:00 {"primary":{"used_percent":5,"window_minutes":300,"resets_at":1789740900000}}
        # a percent above 100 is kept, and may be a text -> session 105.25 until 18 14:15
        11:00:00 {"primary":{"used_percent":"105.25","window_minutes":300,"resets_at":1789740900}}
        """#)
}
