import Essentials
import SnapshotModels

/// The rate limits in one line of a Codex rollout, or in an answer of its app server, which names them in camelCase.
///
/// Four generations of the format are read:
/// - `primary_used_percent`, `secondary_used_percent`, `…_window_minutes` (September 2025),
/// - `primary`/`secondary` with `resets_in_seconds`, counted from the line's time (October 2025),
/// - the same with `resets_at`, plus `credits` and `plan_type` (from November 2025),
/// - plus `limit_id`, `limit_name`, `individual_limit`, `rate_limit_reached_type` (2026).
/// Newer drafts use camelCase names and nest `spendControl`; both spellings are read.
struct CodexRow {
    /// In every line of interest; a text that mentions it escapes the quotes.
    static let needle = ByteNeedle("\"token_count\"")
    /// The limit of every plan; older lines name none.
    static let mainLimit = "codex"

    /// Nil when the line states only invalid numbers.
    private(set) var reading: LimitReading?
    /// One for each invalid number.
    private(set) var flawed: [LimitReading] = []

    var observedAt: Date? { (reading ?? flawed.first)?.observedAt }

    /// Nil when the line states nothing about limits.
    init?(line: Data, origin: LimitReading.Origin) {
        guard let row = JSONFields(line: line), row.text("type") == "event_msg",
            let payload = row.fields("payload"), payload.text("type") == "token_count",
            let limits = payload.fields("rate_limits", "rateLimits"),
            let at = row.date("timestamp")
        else { return nil }
        self.init(limits, observedAt: at, origin: origin)
    }

    /// - Parameter key: the name of the limit if its fields do not state one.
    init?(_ limits: JSONFields, key: String? = nil, observedAt at: Date, origin: LimitReading.Origin) {
        let id = (limits.text("limit_id", "limitId") ?? key)?.displayText(limit: 64)
        var reading = LimitReading(
            limit: id?.lowercased() ?? Self.mainLimit,
            label: limits.text("limit_name", "limitName")?.displayText(limit: 64),
            plan: limits.text("plan_type", "planType")?.displayText(limit: 64),
            reachedType: limits.text("rate_limit_reached_type", "rateLimitReachedType"),
            observedAt: at, origin: origin)
        reading.credits = limits.fields("credits").flatMap(Self.credits)
        for (place, name) in ["primary", "secondary"].enumerated() {
            readWindow(limits, name, place: place, into: &reading)
        }
        readSpendLimit(limits, into: &reading)
        if reading.statesLimit || reading.plan != nil { self.reading = reading }
        if self.reading == nil, flawed.isEmpty { return nil }
    }

    private mutating func readWindow(
        _ limits: JSONFields, _ name: String, place: Int, into reading: inout LimitReading
    ) {
        let stated: Double?
        let minutes: Double?
        var reset: Date?
        if let window = limits.fields(name) {
            stated = window.number("used_percent", "usedPercent")
            minutes = window.number("window_minutes", "windowMinutes", "windowDurationMins")
            reset = window.reset("resets_at", "resetsAt", "reset_at", "resetAt")
            if reset == nil {
                reset = window.number("resets_in_seconds", "resetsInSeconds")
                    .flatMap {
                        $0 >= 0 && $0 < 1e9 ? reading.observedAt.addingTimeInterval($0) : nil
                    }
            }
        } else {
            stated = limits.number(name + "_used_percent")
            minutes = limits.number(name + "_window_minutes")
        }
        guard let percent = stated else { return }
        let window = LimitReading.Window(
            kind: WindowKind(minutes: minutes.flatMap { Int(exactly: $0.rounded()) }, place: place),
            usedPercent: percent, resetsAt: reset)
        if let flaw = window.flaw(observedAt: reading.observedAt) {
            var copy = reading
            copy.windows = [window]
            copy.flaw = flaw
            flawed.append(copy)
        } else {
            reading.windows.append(window)
        }
    }

    private static func credits(_ fields: JSONFields) -> LimitReading.Credits? {
        let hasCredits = fields.flag("has_credits") ?? fields.flag("hasCredits")
        let isUnlimited = fields.flag("unlimited")
        let balance = fields.number("balance")
        if hasCredits == nil, isUnlimited == nil, balance == nil { return nil }
        return LimitReading.Credits(
            hasCredits: hasCredits ?? false, isUnlimited: isUnlimited ?? false, balance: balance)
    }

    private mutating func readSpendLimit(_ limits: JSONFields, into reading: inout LimitReading) {
        let control = limits.fields("spend_control", "spendControl")
        reading.isSpendLimitReached =
            limits.flag("spend_control_reached") ?? limits.flag("spendControlReached")
            ?? control?.flag("reached")
        let individual =
            limits.fields("individual_limit", "individualLimit")
            ?? control?.fields("individual_limit", "individualLimit")
        guard let individual, let used = individual.number("used"),
            let limit = individual.number("limit"), limit > 0
        else { return }
        var stated = reading
        stated.windows = []
        stated.budget = SyncBudget(
            usedAmount: used, limitAmount: limit, currencyCode: "credits",
            resetsAt: individual.reset("resets_at", "resetsAt", "reset_at", "resetAt"))
        stated.flaw = stated.implausibility
        if stated.flaw == nil { reading.budget = stated.budget } else { flawed.append(stated) }
    }
}
