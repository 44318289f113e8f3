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
            at: sampleNow - 60)
        #expect(home.reading(of: ClaudeSource()).provider.summary == shape.reading)
    }

    @Test("the cache of limits", arguments: caches)
    func cache(shape: LogShape) throws {
        let home = try SampleHome()
        try home.write(
            ".claude.json",
            "{\"cachedUsageUtilization\":{\"fetchedAtMs\":1789731240000,\"utilization\":\(shape.log)}}"
        )
        #expect(home.reading(of: ClaudeSource()).provider.summary == shape.reading)
    }

    @Test("the account and the login", arguments: logins)
    func login(shape: LogShape) throws {
        let home = try SampleHome()
        let documents = shape.log.split(separator: "\n").map(String.init)
        try home.write(".claude.json", "{\"oauthAccount\":\(documents[0])}")
        if documents.count > 1 { try home.write(".claude/.credentials.json", documents[1]) }
        #expect(home.reading(of: ClaudeSource()).provider.summary == shape.reading)
    }

    private static let usual = "session 23.5 until 18 14:10; weekly 41.2 until 21 16:00"

    private static let statuslines = LogShape.table(
        #"""
        # both windows have a percentage and a reset -> \#(usual)
        {"five_hour":{"used_percentage":23.5,"resets_at":1789740600},"seven_day":{"used_percentage":41.2,"resets_at":1790006400}}
        # a reset may be an ISO 8601 string -> \#(usual)
        {"five_hour":{"used_percentage":23.5,"resets_at":"2026-09-18T14:10:00.048777+00:00"},"seven_day":{"used_percentage":41.2,"resets_at":"2026-09-21T16:00:00Z"}}
        # a percentage without a reset counts for the length of its window -> session 18; weekly 4
        {"five_hour":{"used_percentage":18},"seven_day":{"used_percentage":4,"resets_at":null}}
        # an object without windows is not captured -> nothing
        {}
        # a window without a percentage is ignored -> nothing
        {"five_hour":{"used_percentage":null,"resets_at":1789740600},"seven_day":null}
        # a Unix timestamp in place of a percentage is dropped -> weekly 41 until 21 16:00
        {"five_hour":{"used_percentage":1789740600,"resets_at":1789740600},"seven_day":{"used_percentage":41,"resets_at":1790006400}}
        # a percentage from before a past reset is not shown -> weekly 41 until 21 16:00; The session limit has been reset since the last reading
        {"five_hour":{"used_percentage":88,"resets_at":1789722000},"seven_day":{"used_percentage":41,"resets_at":1790006400}}
        # a weekly window of a model has the model's label -> weekly 35 until 21 16:00; Fable weekly 58 until 21 16:00
        {"seven_day":{"used_percentage":35,"resets_at":1790006400},"seven_day_fable":{"used_percentage":58,"resets_at":1790006400}}
        # model-scoped windows have the models' labels -> session 4; Fable weekly 100 until 21 16:00
        {"five_hour":{"utilization":4},"model_scoped":[{"display_name":"Fable","utilization":100,"resets_at":"2026-09-21T16:00:00+00:00"},{"display_name":null,"utilization":3}]}
        # a limit on all models repeats the weekly one -> weekly 28 until 21 16:00
        {"seven_day":{"used_percentage":28,"resets_at":1790006400},"model_scoped":[{"display_name":"All models","utilization":27,"resets_at":"2026-09-21T16:00:00Z"}]}
        # a spend limit is a window, and its dollars are a budget -> Spend limit 62.5 until 01 00:00; 125 of 200 spent
        {"spend_limit":{"used_percentage":62.5,"resets_at":1790812800,"used_usd":125,"limit_usd":200,"period":"monthly"}}
        # a spend limit without dollars is a window -> session 1; Spend limit 104 until 01 00:00
        {"five_hour":{"used_percentage":1},"spend_limit":{"used_percentage":104,"resets_at":1790812800}}
        """#)

    private static let reset = ",\"resets_at\":\"2026-09-21T16:00:00.675481+00:00\""
    private static let caches = LogShape.table(
        #"""
        # named windows may have dollar amounts and a lock reason -> \#(usual)
        {"five_hour":{"utilization":23.5,"resets_at":"2026-09-18T14:10:00.077063+00:00","limit_dollars":null,"used_dollars":null,"locked_reason":null},"seven_day":{"utilization":41.2,"resets_at":"2026-09-21T16:00:00+00:00"},"seven_day_opus":null,"seven_day_sonnet":null,"seven_day_oauth_apps":null,"tangelo":null}
        # listed limits take precedence over named windows -> session 7 until 18 14:10; weekly 28 until 21 16:00; Fable weekly 35 until 21 16:00
        {"five_hour":null,"seven_day":{"utilization":1,"resets_at":null},"limits":[{"kind":"session","percent":7,"group":"session","severity":"normal","resets_at":"2026-09-18T14:10:00Z","scope":null,"is_active":false},{"kind":"weekly_all","percent":28,"group":"weekly","scope":null\#(reset)},{"kind":"weekly_scoped","percent":35,"group":"weekly","is_active":true\#(reset),"scope":{"model":{"id":null,"display_name":"Fable"},"surface":null}}]}
        # a listed limit and the named window of the same kind fill each other -> session 7 until 18 14:10; weekly 28 until 21 16:00
        {"five_hour":{"utilization":7,"resets_at":"2026-09-18T14:10:00Z"},"seven_day":{"utilization":28,"resets_at":null},"limits":[{"kind":"session","percent":7},{"kind":"weekly_all","percent":null\#(reset)}]}
        # a limit on all models is the weekly limit -> weekly 28 until 21 16:00
        {"seven_day":{"utilization":28,"resets_at":null},"limits":[{"kind":"weekly_scoped","percent":27\#(reset),"scope":{"model":{"id":"all-models","display_name":"All models"},"surface":null}},{"kind":"weekly_all","percent":28,"resets_at":null}]}
        # limits may have a kind and no group -> session 7; weekly 28 until 21 16:00
        {"limits":[{"kind":"session","percent":7},{"kind":"weekly_all","percent":28\#(reset)},{"kind":"weekly_scoped","percent":8,"scope":null}]}
        # a limit may apply to a surface -> Cowork weekly 12 until 21 16:00
        {"limits":[{"kind":"weekly_scoped","percent":12\#(reset),"scope":{"model":null,"surface":"Cowork"}}]}
        # a limit on something unnamed does not pass for the limit on everything -> weekly 5 until 21 16:00
        {"limits":[{"kind":"weekly_scoped","group":"weekly","percent":99,"resets_at":"2026-09-21T16:00:00Z","scope":{"model":null}},{"kind":"weekly_all","group":"weekly","percent":5,"resets_at":"2026-09-21T16:00:00Z","scope":null}]}
        # an unstarted window has no reset -> session 0; weekly 12.5 until 21 16:00
        {"five_hour":{"utilization":0,"resets_at":null},"seven_day":{"utilization":"12.5","resets_at":"2026-09-21T16:00:00Z"}}
        # a code name is shown as its product, and an unknown name is ignored -> Claude Design weekly 9 until 21 16:00
        {"seven_day_omelette":{"utilization":9,"resets_at":"2026-09-21T16:00:00Z"},"amber_ladder":{"utilization":3},"iguana_necktie":null,"omelette_promotional":{"utilization":5}}
        # extra usage is a budget in minor units -> session 4; 15 of 50 spent
        {"five_hour":{"utilization":4},"extra_usage":{"is_enabled":true,"monthly_limit":5000,"used_credits":1500,"utilization":30,"currency":"USD","decimal_places":2}}
        # disabled extra usage is no budget -> session 4
        {"five_hour":{"utilization":4},"extra_usage":{"is_enabled":false,"monthly_limit":null,"used_credits":null,"utilization":null}}
        # spending has its own exponent -> session 4; 12.75 of 50 spent
        {"five_hour":{"utilization":4},"spend":{"used":{"amount_minor":1275,"currency":"EUR","exponent":2},"limit":{"amount_minor":5000,"currency":"EUR","exponent":2},"percent":25,"enabled":true}}
        # spending without a limit is no budget -> session 4
        {"five_hour":{"utilization":4},"spend":{"used":{"amount_minor":75,"currency":"USD","exponent":2},"limit":null,"cap":null,"balance":null,"percent":0},"extra_usage":{"used_credits":75,"monthly_limit":null,"utilization":null,"currency":"USD","decimal_places":2}}
        """#)

    private static let logins = LogShape.table(
        #"""
        # an organization's tier gives the plan's multiple -> plan Max 20x
        {"accountUuid":"a","emailAddress":"dev@example.test","organizationType":"claude_max","organizationRateLimitTier":"default_claude_max_20x","userRateLimitTier":null,"seatTier":null,"billingType":"stripe_subscription"}
        # the user's tier takes precedence over the organization's -> plan Team 5x
        {"organizationType":"claude_team","userRateLimitTier":"default_claude_max_5x","organizationRateLimitTier":"default_raven"}
        # a tier without a multiple falls back to the login's -> plan Max 5x
        {"organizationType":"claude_max","organizationRateLimitTier":"default_claude_ai"}
        {"claudeAiOauth":{"accessToken":"SYNTHETIC-NOT-A-TOKEN","subscriptionType":"max","rateLimitTier":"default_claude_max_5x","scopes":["user:inference"]}}
        # an account without a type falls back to the login's plan -> plan Pro
        {"emailAddress":"dev@example.test","organizationName":"O"}
        {"claudeAiOauth":{"subscriptionType":"pro","rateLimitTier":"default_claude_ai","refreshTokenExpiresAt":1799900000000}}
        # logins to other services are no plan -> plan Enterprise
        {"organizationType":"claude_enterprise"}
        {"mcpOAuth":{"linear|1":{"serverName":"linear"}}}
        """#)
}
