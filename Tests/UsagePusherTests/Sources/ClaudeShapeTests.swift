import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Shapes of Claude Code's files")
struct ClaudeShapeTests {
    @Test("the status line's input", arguments: statuslines)
    func statusline(shape: LogShape) throws {
        let home = try SampleHome()
        try ClaudeStatuslineStore(home.environment()).save(
            statusline: Data("{\"session_id\":\"s\",\"rate_limits\":\(shape.log)}".utf8),
            at: sampleNow.addingTimeInterval(-60))
        #expect(summary(of: home) == shape.reading)
    }

    @Test("the cache of limits", arguments: caches)
    func cache(shape: LogShape) throws {
        let home = try SampleHome()
        try home.write(
            ".claude.json",
            "{\"cachedUsageUtilization\":{\"fetchedAtMs\":1789731240000,\"utilization\":\(shape.log)}}"
        )
        #expect(summary(of: home) == shape.reading)
    }

    @Test("the account and the login", arguments: logins)
    func login(shape: LogShape) throws {
        let home = try SampleHome()
        let documents = shape.log.split(separator: "\n").map(String.init)
        try home.write(".claude.json", "{\"oauthAccount\":\(documents[0])}")
        if documents.count > 1 { try home.write(".claude/.credentials.json", documents[1]) }
        #expect(summary(of: home) == shape.reading)
    }

    private func summary(of home: SampleHome) -> String {
        var source = ClaudeSource()
        return source.read(in: home.environment(), at: sampleNow).provider.summary
    }

    private static let usual = "session 23.5 until 18 14:10; weekly 41.2 until 21 16:00"

    private static let statuslines = [
        LogShape(
            "both windows have a percentage and a reset",
            #"{"five_hour":{"used_percentage":23.5,"resets_at":1789740600},"seven_day":{"used_percentage":41.2,"resets_at":1790006400}}"#,
            reads: usual),
        LogShape(
            "a reset may be an ISO 8601 string",
            #"{"five_hour":{"used_percentage":23.5,"resets_at":"2026-09-18T14:10:00.048777+00:00"},"seven_day":{"used_percentage":41.2,"resets_at":"2026-09-21T16:00:00Z"}}"#,
            reads: usual),
        LogShape(
            "a percentage without a reset counts for the length of its window",
            #"{"five_hour":{"used_percentage":18},"seven_day":{"used_percentage":4,"resets_at":null}}"#,
            reads: "session 18; weekly 4"),
        LogShape("an object without windows is not captured", "{}", reads: "nothing"),
        LogShape(
            "a window without a percentage is ignored",
            #"{"five_hour":{"used_percentage":null,"resets_at":1789740600},"seven_day":null}"#,
            reads: "nothing"),
        LogShape(
            "a Unix timestamp in place of a percentage is dropped",
            #"{"five_hour":{"used_percentage":1789740600,"resets_at":1789740600},"seven_day":{"used_percentage":41,"resets_at":1790006400}}"#,
            reads: "weekly 41 until 21 16:00"),
        LogShape(
            "a percentage from before a past reset is not shown",
            #"{"five_hour":{"used_percentage":88,"resets_at":1789722000},"seven_day":{"used_percentage":41,"resets_at":1790006400}}"#,
            reads: "weekly 41 until 21 16:00;" + " The session limit has been reset since the last reading"),
        LogShape(
            "a weekly window of a model has the model's label",
            #"{"seven_day":{"used_percentage":35,"resets_at":1790006400},"seven_day_fable":{"used_percentage":58,"resets_at":1790006400}}"#,
            reads: "weekly 35 until 21 16:00; Fable weekly 58 until 21 16:00"),
        LogShape(
            "model-scoped windows have the models' labels",
            #"{"five_hour":{"utilization":4},"model_scoped":[{"display_name":"Fable","utilization":100,"resets_at":"2026-09-21T16:00:00+00:00"},{"display_name":null,"utilization":3}]}"#,
            reads: "session 4; Fable weekly 100 until 21 16:00"),
        LogShape(
            "a limit on all models repeats the weekly one",
            #"{"seven_day":{"used_percentage":28,"resets_at":1790006400},"model_scoped":[{"display_name":"All models","utilization":27,"resets_at":"2026-09-21T16:00:00Z"}]}"#,
            reads: "weekly 28 until 21 16:00"),
        LogShape(
            "a spend limit is a window, and its dollars are a budget",
            #"{"spend_limit":{"used_percentage":62.5,"resets_at":1790812800,"used_usd":125,"limit_usd":200,"period":"monthly"}}"#,
            reads: "Spend limit 62.5 until 01 00:00; 125 of 200 spent"),
        LogShape(
            "a spend limit without dollars is a window",
            #"{"five_hour":{"used_percentage":1},"spend_limit":{"used_percentage":104,"resets_at":1790812800}}"#,
            reads: "session 1; Spend limit 104 until 01 00:00"),
    ]

    private static func limit(_ kind: String, _ percent: Int, _ rest: String) -> String {
        "{\"kind\":\"\(kind)\",\"percent\":\(percent)\(rest)}"
    }
    private static let reset = ",\"resets_at\":\"2026-09-21T16:00:00.675481+00:00\""
    private static func scope(_ model: String, _ surface: String) -> String {
        ",\"scope\":{\"model\":\(model),\"surface\":\(surface)}"
    }

    private static let caches = [
        LogShape(
            "named windows may have dollar amounts and a lock reason",
            #"{"five_hour":{"utilization":23.5,"resets_at":"2026-09-18T14:10:00.077063+00:00","limit_dollars":null,"used_dollars":null,"locked_reason":null},"seven_day":{"utilization":41.2,"resets_at":"2026-09-21T16:00:00+00:00"},"seven_day_opus":null,"seven_day_sonnet":null,"seven_day_oauth_apps":null,"tangelo":null}"#,
            reads: usual),
        LogShape(
            "listed limits take precedence over named windows",
            #"{"five_hour":null,"seven_day":{"utilization":1,"resets_at":null},"limits":["#
                + limit(
                    "session", 7,
                    #","group":"session","severity":"normal","resets_at":"2026-09-18T14:10:00Z","scope":null,"is_active":false"#
                ) + "," + limit("weekly_all", 28, ",\"group\":\"weekly\",\"scope\":null" + reset)
                + ","
                + limit(
                    "weekly_scoped", 35,
                    ",\"group\":\"weekly\",\"is_active\":true" + reset
                        + scope(#"{"id":null,"display_name":"Fable"}"#, "null")) + "]}",
            reads: "session 7 until 18 14:10; weekly 28 until 21 16:00;" + " Fable weekly 35 until 21 16:00"),
        LogShape(
            "a listed limit and the named window of the same kind fill each other",
            #"{"five_hour":{"utilization":7,"resets_at":"2026-09-18T14:10:00Z"},"seven_day":{"utilization":28,"resets_at":null},"limits":["#
                + #"{"kind":"session","percent":7},{"kind":"weekly_all","percent":null"# + reset
                + "}]}",
            reads: "session 7 until 18 14:10; weekly 28 until 21 16:00"),
        LogShape(
            "a limit on all models is the weekly limit",
            #"{"seven_day":{"utilization":28,"resets_at":null},"limits":["#
                + limit("weekly_scoped", 27, reset + scope(#"{"id":"all-models","display_name":"All models"}"#, "null"))
                + "," + limit("weekly_all", 28, ",\"resets_at\":null") + "]}",
            reads: "weekly 28 until 21 16:00"),
        LogShape(
            "limits may have a kind and no group",
            "{\"limits\":[" + limit("session", 7, "") + "," + limit("weekly_all", 28, reset) + ","
                + limit("weekly_scoped", 8, ",\"scope\":null") + "]}",
            reads: "session 7; weekly 28 until 21 16:00"),
        LogShape(
            "a limit may apply to a surface",
            "{\"limits\":[" + limit("weekly_scoped", 12, reset + scope("null", "\"Cowork\""))
                + "]}", reads: "Cowork weekly 12 until 21 16:00"),
        LogShape(
            "an unstarted window has no reset",
            #"{"five_hour":{"utilization":0,"resets_at":null},"seven_day":{"utilization":"12.5","resets_at":"2026-09-21T16:00:00Z"}}"#,
            reads: "session 0; weekly 12.5 until 21 16:00"),
        LogShape(
            "a code name is shown as its product, and an unknown name is ignored",
            #"{"seven_day_omelette":{"utilization":9,"resets_at":"2026-09-21T16:00:00Z"},"amber_ladder":{"utilization":3},"iguana_necktie":null,"omelette_promotional":{"utilization":5}}"#,
            reads: "Claude Design weekly 9 until 21 16:00"),
        LogShape(
            "extra usage is a budget in minor units",
            #"{"five_hour":{"utilization":4},"extra_usage":{"is_enabled":true,"monthly_limit":5000,"used_credits":1500,"utilization":30,"currency":"USD","decimal_places":2}}"#,
            reads: "session 4; 15 of 50 spent"),
        LogShape(
            "disabled extra usage is no budget",
            #"{"five_hour":{"utilization":4},"extra_usage":{"is_enabled":false,"monthly_limit":null,"used_credits":null,"utilization":null}}"#,
            reads: "session 4"),
        LogShape(
            "spending has its own exponent",
            #"{"five_hour":{"utilization":4},"spend":{"used":{"amount_minor":1275,"currency":"EUR","exponent":2},"limit":{"amount_minor":5000,"currency":"EUR","exponent":2},"percent":25,"enabled":true}}"#,
            reads: "session 4; 12.75 of 50 spent"),
        LogShape(
            "spending without a limit is no budget",
            #"{"five_hour":{"utilization":4},"spend":{"used":{"amount_minor":75,"currency":"USD","exponent":2},"limit":null,"cap":null,"balance":null,"percent":0},"extra_usage":{"used_credits":75,"monthly_limit":null,"utilization":null,"currency":"USD","decimal_places":2}}"#,
            reads: "session 4"),
    ]

    private static let logins = [
        LogShape(
            "an organization's tier gives the plan's multiple",
            #"{"accountUuid":"a","emailAddress":"dev@example.test","organizationType":"claude_max","organizationRateLimitTier":"default_claude_max_20x","userRateLimitTier":null,"seatTier":null,"billingType":"stripe_subscription"}"#,
            reads: "plan Max 20x"),
        LogShape(
            "the user's tier takes precedence over the organization's",
            #"{"organizationType":"claude_team","userRateLimitTier":"default_claude_max_5x","organizationRateLimitTier":"default_raven"}"#,
            reads: "plan Team 5x"),
        LogShape(
            "a tier without a multiple falls back to the login's",
            #"{"organizationType":"claude_max","organizationRateLimitTier":"default_claude_ai"}"#
                + "\n"
                + #"{"claudeAiOauth":{"accessToken":"SYNTHETIC-NOT-A-TOKEN","subscriptionType":"max","rateLimitTier":"default_claude_max_5x","scopes":["user:inference"]}}"#,
            reads: "plan Max 5x"),
        LogShape(
            "an account without a type falls back to the login's plan",
            #"{"emailAddress":"dev@example.test","organizationName":"O"}"# + "\n"
                + #"{"claudeAiOauth":{"subscriptionType":"pro","rateLimitTier":"default_claude_ai","refreshTokenExpiresAt":1799900000000}}"#,
            reads: "plan Pro"),
        LogShape(
            "logins to other services are no plan",
            #"{"organizationType":"claude_enterprise"}"# + "\n" + #"{"mcpOAuth":{"linear|1":{"serverName":"linear"}}}"#,
            reads: "plan Enterprise"),
    ]
}
