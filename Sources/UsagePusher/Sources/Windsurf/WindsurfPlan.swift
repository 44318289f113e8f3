import Essentials

/// What Windsurf, now Devin, keeps of its plan. docs/log-shapes.md has the shapes.
struct WindsurfPlan {
    /// The values have one key for each account; nothing says which of them is logged in.
    static let prefix = "windsurf.reactSettings.cachedPlanInfoData:user-"
    /// Those of earlier versions.
    static let keys = ["windsurf.settings.cachedPlanInfo", "devin.settings.cachedPlanInfo"]

    private let fields: JSONFields
    /// Whether several accounts have a period that has not ended, of which any may be logged in.
    let isOfUnknownAccount: Bool

    /// The plan of the account whose period ends last, before those of earlier versions.
    init?(_ state: EditorState, at now: Date) {
        let accounts = state.values.filter { $0.key.hasPrefix(Self.prefix) }
            .sorted { $0.key < $1.key }.compactMap { Self.fields($0.value) }
        let last = accounts.max {
            ($0.number("endTimestamp") ?? 0) < ($1.number("endTimestamp") ?? 0)
        }
        let earlier = Self.keys.lazy.compactMap { state.values[$0].flatMap(Self.fields) }.first
        guard let fields = last ?? earlier else { return nil }
        self.fields = fields
        isOfUnknownAccount = accounts.count { ($0.date("endTimestamp") ?? .distantPast) > now } > 1
    }

    /// There may be control characters around the object.
    private static func fields(_ text: String) -> JSONFields? {
        guard let start = text.firstIndex(of: "{"), let end = text.lastIndex(of: "}"), start < end else { return nil }
        return JSONFields(Data(text[start...end].utf8))
    }

    var name: String? { fields.text("planName")?.displayText(limit: 64) }

    func readings(origin: LimitReading.Origin, writtenAt: Date) -> [LimitReading] {
        var readings = [
            window("daily", .length(minutes: 1_440), isHidden: "hideDailyQuota"),
            window("weekly", .weekly, isHidden: "hideWeeklyQuota"),
        ].compactMap { $0 }
        if readings.isEmpty {
            readings = [
                count("messages", of: "messages", "usedMessages", "Messages"),
                count("flow actions", of: "flowActions", "usedFlowActions", "Flow actions"),
            ].compactMap { $0 }
        }
        return readings.map { limit, label, window in
            // A database that was written later for another reason still holds the numbers of its own window.
            let observedAt = min(writtenAt, window.resetsAt ?? writtenAt)
            return LimitReading(
                limit: limit, label: label, windows: [window], plan: name, observedAt: observedAt, origin: origin)
        }
    }

    private typealias Limit = (limit: String, label: String?, window: LimitReading.Window)

    private func window(_ name: String, _ kind: WindowKind, isHidden: String) -> Limit? {
        let quota = fields.fields("quotaUsage") ?? fields
        guard fields.flag(isHidden) != true, let left = quota.number(name + "RemainingPercent") else { return nil }
        // Less than nothing is left of no limit: it stands for an unknown rest.
        let used = left < 0 ? left : 100 - left
        return (
            name, nil, LimitReading.Window(kind: kind, usedPercent: used, resetsAt: quota.reset(name + "ResetAtUnix"))
        )
    }

    private func count(_ name: String, of total: String, _ used: String, _ label: String) -> Limit? {
        guard let usage = fields.fields("usage"), let total = usage.number(total), total > 0,
            let used = usage.number(used)
        else { return nil }
        return (name, label, LimitReading.Window(kind: .unstated, usedPercent: used / total * 100, resetsAt: nil))
    }
}
