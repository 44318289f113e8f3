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
        var source = ClaudeSource()
        let reading = source.read(in: home.environment(), at: sampleNow)
        #expect(reading.provider.summary == shape.reading)
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

    private static let structured = [
        LogShape(
            "a session rejection holds until its reset, whatever the overage",
            line(
                "You've hit your session limit · resets 11:10pm (Asia/Tokyo)",
                quota(
                    fiveHours
                        + #","unifiedRateLimitFallbackAvailable":false,"overageStatus":"rejected","overageDisabledReason":"out_of_credits","upgradePaths":["upgrade_plan"],"isUsingOverage":false,"lowPriorityRetryAfterSeconds":20"#
                )), reads: session),
        LogShape(
            "a weekly rejection holds until its reset",
            line("You've hit your weekly limit · resets 4pm (UTC)", quota(sevenDays + "\"")),
            reads: weekly),
        LogShape(
            "a model's weekly rejection has the model's label",
            line("You've hit your Opus limit", quota(sevenDays + "_opus\"")),
            reads: "Opus " + weekly),
        LogShape(
            "a rejection with overage included has the label of the model in its text",
            line(
                "You've reached your Fable 5 limit. Run /usage-credits to continue.",
                quota(sevenDays + "_overage_included\"")), reads: "Fable " + weekly),
        LogShape(
            "a rejection with overage included is ignored without a model",
            line(
                "You're out of usage credits. Switch to another model to continue.",
                quota(sevenDays + "_overage_included\"")), reads: "nothing"),
        LogShape(
            "the structured limit counts when the text is about credits",
            line("You're out of extra usage · resets 4am (Europe/Moscow)", quota(fiveHours)),
            reads: session),
        LogShape(
            "the structured limit counts when the text is about spending",
            line(spend, quota(fiveHours)), reads: session),
        LogShape(
            "a rejection of overage is not about a window",
            line(spend, quota(#""status":"rejected","resetsAt":1790006400,"rateLimitType":"overage""#)),
            reads: "nothing"),
        LogShape(
            "an allowed limit is no rejection",
            line(
                "You've hit your session limit · resets 11:10pm (Asia/Tokyo)",
                quota(#""status":"allowed_warning","rateLimitType":"five_hour""#)),
            reads: "nothing"),
        LogShape(
            "the text counts when the structured limit is null",
            line(
                "You've hit your session limit · resets 11:10pm (Asia/Tokyo)",
                ",\"quotaLimits\":null"), reads: session),
        LogShape(
            "the text counts when the structured limit is empty",
            line("You've hit your session limit · resets 11:10pm (Asia/Tokyo)", quota("")),
            reads: session),
        LogShape(
            "the text counts when the structured limit has no reset",
            line(
                "You've hit your session limit · resets 11:10pm (Asia/Tokyo)",
                quota(#""status":"rejected","rateLimitType":"five_hour""#)), reads: session),
    ]

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
            ("You've hit your session limit · resets 1:45pm (Europe/Berlin)", "has passed"),
            ("You've hit your session limit · resets 9pm (UTC)", "is too far away for a session"),
            ("You've hit your limit · resets 11pm (UTC)", "may have passed"),
            ("You've hit your weekly limit · resets 1:45pm (Europe/Berlin)", "has passed"),
            ("You've reached your Fable limit. Run /usage-credits to continue.", "has no reset"),
            ("You're out of extra usage · resets 4pm (Europe/Moscow)", "is about credits"),
            ("You're out of usage credits · resets 8:40pm (UTC)", "is about credits"),
            (spend, "is about spending"),
            ("You've hit your individual spend limit · ask your admin", "is about spending"),
            ("You've hit your org's monthly spend limit · resets 5pm (UTC)", "is about spending"),
            ("API Error: Rate limit reached", "names no limit"),
            ("API Error: Request rejected (429) · Rate limited. Please try again later.", "names none"),
            ("Server is temporarily limiting requests (not your usage limit)", "is about load"),
            ("Credit balance is too low", "is about an API key"),
        ].map { LogShape("“\($0.0)” \($0.1)", line($0.0), reads: "nothing") } + [
            LogShape(
                "a quoted rejection is ignored",
                #"{"type":"user","timestamp":"2026-09-18T11:50:00Z","message":{"role":"user","content":"isApiErrorMessage You've hit your session limit · resets 4:10pm (Europe/Berlin)"}}"#,
                reads: "nothing"),
            LogShape(
                "the content may be a string",
                #"{"type":"assistant","timestamp":"2026-09-18T11:50:00Z","isApiErrorMessage":true,"message":{"model":"<synthetic>","content":"You've hit your session limit · resets 4:10pm (Europe/Berlin)"}}"#,
                reads: session),
        ]
}
