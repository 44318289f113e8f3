import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Shapes of Claude Code's rejections")
struct ClaudeRejectionShapeTests {
    @Test("a rejection in a transcript", arguments: structured + sentences + others)
    func rejection(shape: LogShape) throws {
        let home = try SampleHome()
        try home.write(".claude/projects/p/s/subagents/agent-a.jsonl", shape.log + "\n")
        #expect(home.reading(of: ClaudeSource()).provider.summary == shape.reading)
    }

    /// Written at 11:50; `fields` are those of the line beside the message.
    private static func line(_ text: String, _ fields: String = "") -> String {
        #"{"type":"assistant","isSidechain":false,"timestamp":"2026-09-18T11:50:00.013Z","message":{"id":"m","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","content":[{"type":"text","text":""#
            + text + #""}]},"error":"rate_limit","isApiErrorMessage":true,"apiErrorStatus":429"#
            + fields + #","version":"2.1.283"}"#
    }
    private static func quota(_ members: String) -> String { ",\"quotaLimits\":{\(members)}" }

    private static let session = "session 100 until 18 14:10"
    private static let weekly = "weekly 100 until 21 16:00"
    private static let fiveHours = #""status":"rejected","resetsAt":1789740600,"rateLimitType":"five_hour""#
    private static let sevenDays = #""status":"rejected","resetsAt":1790006400,"rateLimitType":"seven_day"#
    private static let spend = "You've hit your monthly spend limit · raise it at claude.ai/settings/usage"

    private static let structured = LogShape.table(
        #"""
        # a session rejection holds until its reset, whatever the overage -> \#(session)
        \#(line("You've hit your session limit · resets 11:10pm (Asia/Tokyo)", quota(fiveHours + #","unifiedRateLimitFallbackAvailable":false,"overageStatus":"rejected","overageDisabledReason":"out_of_credits","upgradePaths":["upgrade_plan"],"isUsingOverage":false,"lowPriorityRetryAfterSeconds":20"#)))
        # a weekly rejection holds until its reset -> \#(weekly)
        \#(line("You've hit your weekly limit · resets 4pm (UTC)", quota(sevenDays + "\"")))
        # a model's weekly rejection has the model's label -> Opus \#(weekly)
        \#(line("You've hit your Opus limit", quota(sevenDays + "_opus\"")))
        # a rejection with overage included has the label of the model in its text -> Fable \#(weekly)
        \#(line("You've reached your Fable 5 limit. Run /usage-credits to continue.", quota(sevenDays + "_overage_included\"")))
        # a rejection with overage included is ignored without a model -> nothing
        \#(line("You're out of usage credits. Switch to another model to continue.", quota(sevenDays + "_overage_included\"")))
        # a rejection with overage included has the label of the model that it names itself -> Fable \#(weekly)
        \#(line("You're out of usage credits.", quota(sevenDays + #"_overage_included","scope":{"model":{"display_name":"Fable"}}"#)))
        # the structured limit counts when the text is about credits -> \#(session)
        \#(line("You're out of extra usage · resets 4am (Europe/Moscow)", quota(fiveHours)))
        # the structured limit counts when the text is about spending -> \#(session)
        \#(line(spend, quota(fiveHours)))
        # a rejection of overage is not about a window -> nothing
        \#(line(spend, quota(#""status":"rejected","resetsAt":1790006400,"rateLimitType":"overage""#)))
        # an allowed limit is no rejection -> nothing
        \#(line("You've hit your session limit · resets 11:10pm (Asia/Tokyo)", quota(#""status":"allowed_warning","rateLimitType":"five_hour""#)))
        # the text counts when the structured limit is null -> \#(session)
        \#(line("You've hit your session limit · resets 11:10pm (Asia/Tokyo)", ",\"quotaLimits\":null"))
        # the text counts when the structured limit is empty -> \#(session)
        \#(line("You've hit your session limit · resets 11:10pm (Asia/Tokyo)", quota("")))
        # the text counts when the structured limit has no reset -> \#(session)
        \#(line("You've hit your session limit · resets 11:10pm (Asia/Tokyo)", quota(#""status":"rejected","rateLimitType":"five_hour""#)))
        """#)

    private static let sentences = [
        ("You’ve hit your session limit · resets 4:10pm (Europe/Berlin) · progress saved", session),
        ("You've hit your 5-hour limit · resets Sep 18 at 4:10pm (Europe/Berlin)", session),
        ("You've hit your weekly limit · resets Sep 21, 6pm (Europe/Berlin)", weekly),
        ("You've hit your weekly limit · resets Sep 21, 2026, 6pm (Europe/Berlin)", weekly),
        ("You've hit your Sonnet limit · resets Sep 21 at 4pm (UTC)", "Sonnet " + weekly),
        // Without a name, by the time to the reset.
        ("You've hit your limit · resets 5:10pm (Europe/Moscow)", session),
        ("You've hit your usage limit · resets 5:10pm (Europe/Moscow)", session),
        ("You've hit your limit · resets Sep 21, 4pm (UTC)", weekly),
        ("Limit reached · resets 7:40pm (Asia/Calcutta) · /upgrade to Max or turn on /extra-usage", session),
        ("5-hour limit reached ∙ resets 9:10am (America/Bogota)", session),
        ("Session limit reached ∙ resets 4:10 PM (Europe/Berlin)", session),
        ("Weekly limit reached ∙ resets Sep 21, 6pm (Europe/Berlin)", weekly),
        (#"Opus weekly limit reached ∙ resets Sep 21, 6pm (Europe/Berlin)\n/upgrade to increase"#, "Opus " + weekly),
        ("Claude usage limit reached. Your limit will reset at 9:10am (America/Bogota).", session),
        ("Claude AI usage limit reached|1789740600", session),
        ("limit reached|1790006400", weekly),
        ("You've hit your weekly limit · resets 1:30pm (Europe/Madrid)", "weekly 100 until 19 11:30"),
        ("You've hit your weekly limit · resets Sep 21, 2am (Europe/Madrid)", "weekly 100 until 21 00:00"),
        ("You've hit your Opus limit · resets Sep 21 at 2am (Asia/Tokyo)", "Opus weekly 100 until 20 17:00"),
        (spend + " · your session limit resets 10:10am (America/Halifax)", "session 100 until 18 13:10"),
        // Names that zones had before.
        ("You've hit your session limit · resets 7:40pm (Asia/Calcutta)", session),
        ("You've hit your session limit · resets 11:10am (America/Buenos_Aires)", session),
        ("You've hit your session limit · resets 2:10pm (Etc/UTC)", session),
        ("You've hit your session limit · resets 9:10am (Etc/GMT+5)", session),
    ].map { LogShape("“\($0.0)” is read", line($0.0), reads: $0.1) }

    private static let others =
        [
            ("You've hit your session limit · resets 4:20pm", "has no zone"),
            ("You've hit your session limit · resets 4:20pm (Nowhere/Town)", "has a zone that is none"),
            ("You've hit your session limit · resets 25pm (UTC)", "has no such hour"),
            ("You've hit your weekly limit · resets Foo 21, 2am (UTC)", "has no such month"),
            ("You've hit your session limit · resets 1:45pm (Europe/Berlin)", "has passed"),
            ("You've hit your session limit · resets 9pm (UTC)", "is too far away for a session"),
            ("You've hit your limit · resets 11pm (UTC)", "may have passed"),
            ("You've hit your weekly limit · resets 1:45pm (Europe/Berlin)", "has passed"),
            ("You've reached your Fable limit. Run /usage-credits to continue.", "has no reset"),
            ("limit reached|", "has no reset"),
            ("You're out of extra usage · resets 4pm (Europe/Moscow)", "is about credits"),
            ("You're out of usage credits · resets 8:40pm (UTC)", "is about credits"),
            (spend, "is about spending"),
            ("You've hit your individual spend limit · ask your admin", "is about spending"),
            ("You've hit your org's monthly spend limit · resets 5pm (UTC)", "is about spending"),
            ("API Error: Rate limit reached", "names no limit"),
            ("API Error: Request rejected (429) · Rate limited. Please try again later.", "names none"),
            ("Server is temporarily limiting requests (not your usage limit)", "is about load"),
            ("Credit balance is too low", "is about an API key"),
        ].map { LogShape("“\($0.0)” \($0.1)", line($0.0), reads: "nothing") }
        + LogShape.table(
            #"""
            # a quoted rejection is ignored -> nothing
            {"type":"user","timestamp":"2026-09-18T11:50:00Z","quotaLimits":{\#(fiveHours)},"message":{"role":"user","content":"isApiErrorMessage You've hit your session limit · resets 4:10pm (Europe/Berlin)"}}
            # what is no error of the provider is ignored -> nothing
            {"timestamp":"2026-09-18T11:50:00Z","isApiErrorMessage":false,"message":{"content":"Claude AI usage limit reached|1789740600"}}
            # the content may be a string -> \#(session)
            {"type":"assistant","timestamp":"2026-09-18T11:50:00Z","isApiErrorMessage":true,"message":{"model":"<synthetic>","content":"You've hit your session limit · resets 4:10pm (Europe/Berlin)"}}
            # the oldest form has a type neither of the line nor of the limit -> \#(session)
            {"timestamp":"2026-09-18T11:50:00Z","isApiErrorMessage":true,"message":{"content":"Claude AI usage limit reached|1789740600"}}
            """#)
}
