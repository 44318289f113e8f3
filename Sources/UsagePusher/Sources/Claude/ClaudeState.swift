import Foundation
import SnapshotModels

/// The account and, if Claude Code has cached them, its limits, from `.claude.json`.
struct ClaudeState: Sendable {
    struct Account: Sendable, Hashable {
        var id: String?
        var email: String?
        var organizationType: String?
        var rateLimitTier: String?
    }

    /// The provider's answer as Claude Code last fetched it.
    struct Cache: Sendable {
        var fetchedAt: Date
        var accountID: String?
        var readings = ClaudeReadings()
        var budget: SyncBudget?
    }

    var account: Account?
    var cache: Cache?

    /// Small files of the same name exist that contain neither.
    var isEmpty: Bool { account == nil && cache == nil }

    /// Whether the cache was fetched for another account than the one logged in now.
    var isCacheOfAnotherAccount: Bool {
        guard let cached = cache?.accountID, let id = account?.id else { return false }
        return cached != id
    }

    init(_ document: JSONFields) {
        account = document.fields("oauthAccount").map { fields in
            Account(
                id: fields.text("accountUuid"),
                email: fields.text("emailAddress")?.displayText(),
                organizationType: fields.text("organizationType"),
                rateLimitTier: fields.text("userRateLimitTier", "organizationRateLimitTier"))
        }
        if let fields = document.fields("cachedUsageUtilization") { cache = Cache(fields) }
    }
}

extension ClaudeState.Cache {
    /// Nil without the time of the fetch: the numbers would have no age.
    init?(_ fields: JSONFields) {
        guard let fetchedAt = fields.date("fetchedAtMs"),
            let utilization = fields.fields("utilization")
        else { return nil }
        self.fetchedAt = fetchedAt
        accountID = fields.text("accountUuid")
        for name in utilization.names {
            guard let window = ClaudeWindow(name: name), let value = utilization.fields(name) else {
                continue
            }
            add(value.number("utilization", "used_percentage"), of: value, to: window)
        }
        for limit in utilization.list("limits") {
            guard let window = Self.window(of: limit) else { continue }
            add(limit.number("percent"), of: limit, to: window)
        }
        budget = Self.spending(utilization) ?? Self.extraUsage(utilization)
    }

    private mutating func add(_ percent: Double?, of fields: JSONFields, to window: ClaudeWindow) {
        readings.add(
            WindowReading(
                usedPercent: percent, resetsAt: fields.date("resets_at"), observedAt: fetchedAt),
            to: window)
    }

    private static func window(of limit: JSONFields) -> ClaudeWindow? {
        let kind: WindowKind
        switch limit.text("group") ?? limit.text("kind") {
        case "session": kind = .session
        case "weekly", "weekly_all", "weekly_scoped": kind = .weekly
        default: return nil
        }
        let scope = limit.fields("scope")
        let name =
            scope?.fields("model")?.text("display_name", "id")
            ?? scope?.fields("surface")?.text("display_name", "id") ?? scope?.text("surface")
        if let name = name?.displayText(limit: 48) { return ClaudeWindow(kind: kind, scope: name) }
        // A limit on something unnamed must not pass for the limit on everything.
        return scope == nil && limit.text("kind") != "weekly_scoped"
            ? ClaudeWindow(kind: kind) : nil
    }

    /// Amounts are in minor units with an exponent.
    private static func spending(_ utilization: JSONFields) -> SyncBudget? {
        guard let spend = utilization.fields("spend"), spend.flag("enabled") == true,
            let used = amount(spend, "used"), let limit = amount(spend, "limit"), limit > 0
        else { return nil }
        return SyncBudget(
            usedAmount: used, limitAmount: limit,
            currencyCode: currency(spend.fields("limit") ?? spend), period: "month")
    }

    /// Amounts are in hundredths.
    private static func extraUsage(_ utilization: JSONFields) -> SyncBudget? {
        guard let extra = utilization.fields("extra_usage"), extra.flag("is_enabled") == true,
            let used = extra.number("used_credits"), let limit = extra.number("monthly_limit"),
            limit > 0
        else { return nil }
        return SyncBudget(
            usedAmount: used / 100, limitAmount: limit / 100, currencyCode: currency(extra),
            period: "month")
    }

    private static func amount(_ fields: JSONFields, _ name: String) -> Double? {
        guard let money = fields.fields(name), let minor = money.number("amount_minor") else {
            return nil
        }
        let exponent = money.number("exponent") ?? 2
        guard (0...9).contains(exponent) else { return nil }
        return minor / pow(10, exponent)
    }

    private static func currency(_ fields: JSONFields) -> String {
        guard let code = fields.text("currency"), code.utf8.count == 3,
            code.allSatisfy({ $0.isASCII && $0.isLetter })
        else { return "USD" }
        return code.uppercased()
    }
}
