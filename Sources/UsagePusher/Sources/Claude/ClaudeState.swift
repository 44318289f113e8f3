import Essentials
import SnapshotModels

/// The account and, if Claude Code has cached them, its limits, from `.claude.json`.
struct ClaudeState: Sendable {
    struct Account: Sendable, Hashable {
        /// The fingerprint of the user's UUID and, where stated, the organization's: each has limits of its own.
        var id: String?
        /// The fingerprint of the user's UUID alone.
        var userID: String?
        /// As shown.
        var organization: String?
        var email: String?
        var organizationType: String?
        var rateLimitTier: String?
    }

    /// The provider's answer as Claude Code last fetched it.
    struct Cache: Sendable {
        var fetchedAt: Date
        /// The user that it was fetched for.
        var userID: String?
        var evidence = Evidence()
    }

    var account: Account?
    var cache: Cache?

    /// The members of the file that are read. It also holds the history of every project, and can be hundreds of
    /// megabytes.
    static let members: Set<String> = ["oauthAccount", "cachedUsageUtilization"]

    /// Small files of the same name exist that contain neither.
    var isEmpty: Bool { account == nil && cache == nil }

    /// Whether the cache was fetched for another account than the one logged in now.
    var isCacheOfAnotherAccount: Bool {
        guard let cached = cache?.userID, let id = account?.userID else { return false }
        return cached != id
    }

    init(_ document: JSONFields, path: String) {
        account = document.fields("oauthAccount").map { fields in
            let user = fields.text("accountUuid")
            let names = [user, fields.text("organizationUuid")].compactMap { $0 }
            return Account(
                id: user.map { _ in names.joined(separator: "/").fingerprint },
                userID: user?.fingerprint,
                organization: fields.text("organizationName")?.displayText(limit: 48),
                email: fields.text("emailAddress")?.displayText(),
                organizationType: fields.text("organizationType"),
                rateLimitTier: fields.text("userRateLimitTier", "organizationRateLimitTier"))
        }
        if let fields = document.fields("cachedUsageUtilization") {
            cache = Cache(fields, presentUserID: account?.userID, origin: LimitReading.Origin(path: path))
        }
    }
}

extension ClaudeState.Cache {
    /// Nil without the time of the fetch: the numbers would have no age.
    ///
    /// The numbers of the present user are of the organization that was logged in at their time.
    init?(_ fields: JSONFields, presentUserID: String?, origin: LimitReading.Origin) {
        guard let fetchedAt = fields.date("fetchedAtMs"),
            let utilization = fields.fields("utilization")
        else { return nil }
        self.fetchedAt = fetchedAt
        userID = fields.text("accountUuid")?.fingerprint
        let account = userID == presentUserID ? nil : userID
        let statements = Self.statements(utilization)
        for statement in statements where evidence.newest(statement.window.limit) == nil {
            let window = statement.window
            let reset = statements.lazy.filter { $0.window == window }.compactMap(\.resetsAt).first
            let reading = window.reading(
                statement.percent, resetsAt: statement.resetsAt ?? reset, observedAt: fetchedAt,
                account: account, origin: origin)
            if let reading { evidence.add(reading) }
        }
        if let budget = Self.spending(utilization) ?? Self.extraUsage(utilization) {
            evidence.add(
                LimitReading(
                    limit: "spending", budget: budget, observedAt: fetchedAt, account: account, origin: origin))
        }
    }

    private struct Statement {
        var window: ClaudeWindow
        var percent: Double?
        var resetsAt: Date?
    }

    /// The windows, some stated more than once: a listed limit and a named window describe the same one, and either may
    /// lack the percentage or the reset. The first statement takes precedence; one of "All models" repeats the weekly
    /// one.
    private static func statements(_ utilization: JSONFields) -> [Statement] {
        var listed: [Statement] = []
        var repeated: [Statement] = []
        for limit in utilization.list("limits") {
            guard let window = window(of: limit) else { continue }
            let statement = Statement(
                window: window, percent: limit.number("percent"), resetsAt: limit.reset("resets_at")
            )
            let isRepeated = window.scope == nil && ClaudeWindow.scope(of: limit) != nil
            if isRepeated { repeated.append(statement) } else { listed.append(statement) }
        }
        let named = utilization.names.sorted().compactMap { name -> Statement? in
            guard let fields = utilization.fields(name),
                let window = ClaudeWindow(name: name, fields: fields)
            else { return nil }
            return Statement(
                window: window, percent: fields.number("utilization", "used_percentage"),
                resetsAt: fields.reset("resets_at"))
        }
        return listed + named + repeated
    }

    private static func window(of limit: JSONFields) -> ClaudeWindow? {
        let kind: WindowKind
        switch limit.text("group") ?? limit.text("kind") {
        case "session": kind = .session
        case "weekly", "weekly_all", "weekly_scoped": kind = .weekly
        default: return nil
        }
        if let scope = ClaudeWindow.scope(of: limit) {
            return ClaudeWindow(kind: kind, scope: scope)
        }
        // A limit on something unnamed must not pass for the limit on everything.
        return limit.fields("scope") == nil && limit.text("kind") != "weekly_scoped" ? ClaudeWindow(kind: kind) : nil
    }

    private static func spending(_ utilization: JSONFields) -> SyncBudget? {
        guard let spend = utilization.fields("spend"), spend.flag("enabled") == true,
            let used = spend.fields("used").flatMap(amount),
            let limit = spend.fields("limit").flatMap(amount), limit > 0
        else { return nil }
        return SyncBudget(
            usedAmount: used, limitAmount: limit,
            currencyCode: currency(spend.fields("limit") ?? spend), period: "month")
    }

    private static func extraUsage(_ utilization: JSONFields) -> SyncBudget? {
        guard let extra = utilization.fields("extra_usage"), extra.flag("is_enabled") == true,
            let used = extra.number("used_credits"), let limit = extra.number("monthly_limit"),
            let unit = minorUnit(extra), limit > 0
        else { return nil }
        return SyncBudget(
            usedAmount: used / unit, limitAmount: limit / unit, currencyCode: currency(extra), period: "month")
    }

    private static func amount(_ money: JSONFields) -> Double? {
        guard let minor = money.number("amount_minor"), let unit = minorUnit(money) else { return nil }
        return minor / unit
    }

    /// How many minor units make one of the currency, by the number of decimal places: hundredths unless stated, and
    /// none where the currency has none (ISO 4217).
    private static func minorUnit(_ money: JSONFields) -> Double? {
        let places =
            money.number("decimal_places", "exponent")
            ?? (["JPY", "KRW", "VND", "CLP", "ISK"].contains(currency(money)) ? 0 : 2)
        return (0...9).contains(places) ? pow(10, places) : nil
    }

    private static func currency(_ fields: JSONFields) -> String {
        guard let code = fields.text("currency"), code.utf8.count == 3,
            code.allSatisfy({ $0.isASCII && $0.isLetter })
        else { return "USD" }
        return code.uppercased()
    }
}
