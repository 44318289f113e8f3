import Foundation
import SnapshotModels

/// The rate limits in one line of a Codex rollout.
///
/// Four generations of the format are read:
/// - `primary_used_percent`, `secondary_used_percent`, `…_window_minutes` (September 2025),
/// - `primary`/`secondary` with `resets_in_seconds`, counted from the line's time (October 2025),
/// - the same with `resets_at`, plus `credits` and `plan_type` (from November 2025),
/// - plus `limit_id`, `limit_name`, `individual_limit`, `rate_limit_reached_type` (2026).
/// Newer drafts use camelCase names and nest `spendControl`; both spellings are read.
struct CodexRow: Sendable {
    /// In every line of interest; a text that mentions it escapes the quotes.
    static let needle = ByteNeedle("\"token_count\"")
    /// The bucket of every plan; older lines name none.
    static let mainBucket = "codex"

    struct Window: Sendable {
        var kind: WindowKind
        var reading: WindowReading
    }

    struct Credits: Sendable, Hashable {
        var hasCredits: Bool
        var isUnlimited: Bool
        var balance: Double?
    }

    var at: Date
    var bucket: String
    var bucketName: String?
    var windows: [Window] = []
    var credits: Credits?
    var spendLimit: SyncBudget?
    var isSpendLimitReached: Bool?
    var reachedType: String?
    var plan: String?

    /// Nil when the line contains no rate limits.
    init?(line: Data) {
        guard let row = JSONFields(line), row.text("type") == "event_msg",
            let payload = row.fields("payload"), payload.text("type") == "token_count",
            let limits = payload.fields("rate_limits", "rateLimits"),
            let at = row.date("timestamp")
        else { return nil }
        self.at = at
        let id = limits.text("limit_id", "limitId")?.displayText(limit: 64)
        bucket = id?.lowercased() ?? Self.mainBucket
        bucketName = limits.text("limit_name", "limitName")?.displayText(limit: 64)
        plan = limits.text("plan_type", "planType")?.displayText(limit: 64)
        reachedType = limits.text("rate_limit_reached_type", "rateLimitReachedType")
        credits = limits.fields("credits").map { fields in
            Credits(
                hasCredits: fields.flag("has_credits") ?? fields.flag("hasCredits") ?? false,
                isUnlimited: fields.flag("unlimited") ?? false,
                balance: fields.number("balance"))
        }
        readWindows(limits)
        readSpendLimit(limits)
    }

    private mutating func readWindows(_ limits: JSONFields) {
        for (place, name) in ["primary", "secondary"].enumerated() {
            let percent: Double?
            let minutes: Double?
            var reset: Date?
            if let window = limits.fields(name) {
                percent = window.number("used_percent", "usedPercent")
                minutes = window.number("window_minutes", "windowMinutes", "windowDurationMins")
                reset = window.date("resets_at", "resetsAt", "reset_at", "resetAt")
                if reset == nil {
                    reset = window.number("resets_in_seconds", "resetsInSeconds")
                        .flatMap { $0 >= 0 && $0 < 1e9 ? at.addingTimeInterval($0) : nil }
                }
            } else {
                percent = limits.number(name + "_used_percent")
                minutes = limits.number(name + "_window_minutes")
            }
            let kind = WindowKind(
                minutes: minutes.flatMap { Int(exactly: $0.rounded()) }, place: place)
            let reading = WindowReading(usedPercent: percent, resetsAt: reset, observedAt: at)
            guard let reading, reading.isPlausible(for: kind) else { continue }
            windows.append(Window(kind: kind, reading: reading))
        }
    }

    private mutating func readSpendLimit(_ limits: JSONFields) {
        let control = limits.fields("spend_control", "spendControl")
        isSpendLimitReached =
            limits.flag("spend_control_reached") ?? limits.flag("spendControlReached")
            ?? control?.flag("reached")
        let individual =
            limits.fields("individual_limit", "individualLimit")
            ?? control?.fields("individual_limit", "individualLimit")
        guard let individual, let used = individual.number("used"),
            let limit = individual.number("limit"), used >= 0, limit > 0
        else { return }
        spendLimit = SyncBudget(
            usedAmount: used, limitAmount: limit, currencyCode: "credits",
            resetsAt: individual.date("resets_at", "resetsAt", "reset_at", "resetAt"))
    }
}
