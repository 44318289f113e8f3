public import Essentials

/// The limits of one provider account as one device knows them.
///
/// For an example see `SyncedUsageSnapshot`.
public struct ProviderUsageSnapshot: Codable, Sendable, Equatable {
    /// CodexBar's provider id: "codex", "claude", …
    public var providerID: String
    public var providerName: String
    /// The session window by convention; `rateWindows` wins when it is present.
    public var primary: SyncRateWindow?
    /// The weekly window by convention.
    public var secondary: SyncRateWindow?
    public var accountEmail: String?
    /// The plan to show: "Pro", "Max 5x".
    public var loginMethod: String?
    /// Error or status text to show.
    public var statusMessage: String?
    public var isError: Bool
    /// When the newest of the numbers was observed, not when it was read from disk.
    public var lastUpdated: Date
    /// All windows in display order; `primary` and `secondary` repeat two of them.
    public var rateWindows: [SyncRateWindow]?
    public var costSummary: SyncCostSummary?
    public var budget: SyncBudget?
    /// Prepaid credits left; early readers ignore the field.
    public var credits: SyncCredits?
    /// "exact", "estimated", "percentOnly" or "unknown".
    public var usageDataConfidence: String?

    public init(
        providerID: String, providerName: String, primary: SyncRateWindow? = nil, secondary: SyncRateWindow? = nil,
        accountEmail: String? = nil, loginMethod: String? = nil, statusMessage: String? = nil, isError: Bool = false,
        lastUpdated: Date, rateWindows: [SyncRateWindow]? = nil, costSummary: SyncCostSummary? = nil,
        budget: SyncBudget? = nil, credits: SyncCredits? = nil, usageDataConfidence: String? = nil
    ) {
        self.providerID = providerID
        self.providerName = providerName
        self.primary = primary
        self.secondary = secondary
        self.accountEmail = accountEmail
        self.loginMethod = loginMethod
        self.statusMessage = statusMessage
        self.isError = isError
        self.lastUpdated = lastUpdated
        self.rateWindows = rateWindows
        self.costSummary = costSummary
        self.budget = budget
        self.credits = credits
        self.usageDataConfidence = usageDataConfidence
    }

    /// The windows to show: `rateWindows` when present, else `primary` and `secondary`.
    public var windows: [SyncRateWindow] {
        if let rateWindows, !rateWindows.isEmpty { return rateWindows }
        return [primary, secondary].compactMap { $0 }
    }
}

extension ProviderUsageSnapshot {
    /// Lenient: an unreadable window is left out.
    ///
    /// - Throws: When there is no id or no readable `lastUpdated`: the age of a number must be known. A decoder may
    ///   state it for documents without one, see `observationTime`.
    public init(from decoder: any Decoder) throws {
        self = try Reading(from: decoder).provider
    }

    /// A provider as decoded, and how many of its windows were left out.
    struct Reading: Decodable {
        let provider: ProviderUsageSnapshot
        let skippedWindows: Int

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            let id = try fields.decode(String.self, forKey: .providerID)
            let providerID = try fields.required(.providerID, id.isEmpty ? nil : id)
            let primary: SyncRateWindow? = fields.value(.primary)
            let secondary: SyncRateWindow? = fields.value(.secondary)
            let rateWindows: LossyList<SyncRateWindow>? = fields.list(
                .rateWindows, limit: SnapshotLimits.windowsPerProvider)
            var skipped = rateWindows?.skipped ?? 0
            if primary == nil, fields.hasValue(.primary) { skipped += 1 }
            if secondary == nil, fields.hasValue(.secondary) { skipped += 1 }

            skippedWindows = skipped
            provider = ProviderUsageSnapshot(
                providerID: providerID,
                providerName: fields.text(.providerName) ?? providerID,
                primary: primary,
                secondary: secondary,
                accountEmail: fields.text(.accountEmail),
                loginMethod: fields.text(.loginMethod),
                statusMessage: fields.text(.statusMessage),
                isError: fields.flag(.isError) ?? false,
                lastUpdated: try fields.required(
                    .lastUpdated,
                    fields.date(.lastUpdated) ?? decoder.userInfo[.observationTime] as? Date),
                rateWindows: rateWindows?.elements,
                costSummary: decoder.userInfo[.leavesOutCosts] == nil ? fields.value(.costSummary) : nil,
                budget: fields.value(.budget),
                credits: fields.value(.credits),
                usageDataConfidence: fields.text(.usageDataConfidence))
        }
    }
}

extension CodingUserInfoKey {
    /// A `Date`: when the numbers of a document that does not state it were observed.
    package static var observationTime: CodingUserInfoKey { key("observationTime") }

    /// Present if costs are not decoded.
    static var leavesOutCosts: CodingUserInfoKey { key("leavesOutCosts") }

    private static func key(_ name: String) -> CodingUserInfoKey {
        guard let key = CodingUserInfoKey(rawValue: name) else { preconditionFailure("any text is a key") }
        return key
    }
}

extension ProviderUsageSnapshot {
    /// When the percentage of one of its windows was observed.
    package func observedAt(_ window: SyncRateWindow) -> Date { min(window.observedAt ?? lastUpdated, lastUpdated) }

    /// Whether the percentages are computed from local logs.
    package var isEstimate: Bool { usageDataConfidence == "estimated" }
}
