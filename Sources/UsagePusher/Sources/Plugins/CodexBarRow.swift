import Essentials
import SnapshotModels

/// What CodexBar's command line states about one provider [steipete/CodexBar docs/cli.md, docs/dashboard-api.md]:
///
/// - an element of `codexbar usage --format json`: `provider`, `usage` with the windows, `credits`, `error`. The
///   provider "cli" is the command as a whole;
/// - a row of `codexbar dashboard`: `id`, `identity`, `windows`, `credits`, `cost`, `error`, and `accounts` of its own.
struct CodexBarRow {
    static let wholeID = "cli"

    private let fields: JSONFields
    private let id: String
    private let name: String?
    /// Nil for a row of the dashboard.
    private let usage: JSONFields?
    private let isDashboard: Bool
    private var label: String?

    /// Nil when it is neither.
    init?(_ fields: JSONFields) {
        self.fields = fields
        if let provider = fields.text("provider"), !provider.isEmpty {
            (id, name, isDashboard) = (provider, nil, false)
            usage = fields.fields("usage")
        } else if let id = fields.text("id"), !id.isEmpty, fields.flag("enabled") != nil {
            (self.id, name, isDashboard) = (id, fields.text("name"), true)
            usage = nil
        } else {
            return nil
        }
    }

    private init(account: JSONFields, of row: CodexBarRow) {
        fields = account
        (id, name, isDashboard, usage) = (row.id, row.name, true, nil)
        label = account.text("label")
    }

    /// The row and those of its further accounts. The active account is the row's own.
    var withAccounts: [CodexBarRow] {
        [self]
            + fields.list("accounts").map { CodexBarRow(account: $0, of: self) }
            .filter { $0.fields.flag("active") != true && $0.email != email }
    }

    /// Nil without an error, and for a provider that is switched off.
    var error: String? {
        guard fields.flag("enabled") != false else { return nil }
        if let error = fields.fields("error") { return error.text("message") ?? "" }
        return fields.text("error")
    }

    private var email: String? {
        let identity = (usage ?? fields).fields("identity")
        return identity?.text("accountEmail") ?? usage?.text("accountEmail") ?? fields.text("account") ?? label
    }

    /// Nil for a provider that is switched off.
    ///
    /// - Parameter observedAt: unless it states its own time.
    func card(observedAt: Date) -> ProviderUsageSnapshot? {
        guard fields.flag("enabled") != false else { return nil }
        let identity = (usage ?? fields).fields("identity")
        var card = ProviderUsageSnapshot(
            providerID: id, providerName: name ?? ProviderNames.name(of: id), accountEmail: email,
            loginMethod: identity?.text("loginMethod", "plan") ?? usage?.text("loginMethod"),
            lastUpdated: (usage ?? fields).date("updatedAt") ?? observedAt)
        let windows = isDashboard ? dashboardWindows : usageWindows
        card.rateWindows = windows.isEmpty ? nil : windows
        card.credits = fields.fields("credits")?.number("remaining").map {
            SyncCredits(balance: $0)
        }
        card.usageDataConfidence = usage?.text("dataConfidence").flatMap {
            ["exact", "estimated", "percentOnly", "unknown"].contains($0) ? $0 : nil
        }
        if let spent = usage?.fields("providerCost"), let used = spent.number("used"),
            let limit = spent.number("limit"), limit > 0
        {
            card.budget = SyncBudget(
                usedAmount: used, limitAmount: limit, currencyCode: spent.text("currencyCode") ?? "USD",
                period: spent.text("period"), resetsAt: spent.date("resetsAt"))
        }
        if isDashboard, let cost = fields.fields("cost") {
            let summary = SyncCostSummary(
                sessionCostUSD: cost.number("todayUSD"),
                last30DaysCostUSD: cost.number("last30DaysUSD"))
            if summary != SyncCostSummary() { card.costSummary = summary }
        }
        return card
    }

    private var usageWindows: [SyncRateWindow] {
        guard let usage else { return [] }
        let labels = fields.fields("rateWindowLabels")
        let own = ["primary", "secondary", "tertiary"].compactMap { slot in
            usage.fields(slot).flatMap {
                Self.window($0, minutes: $0.number("windowMinutes"), label: labels?.text(slot))
            }
        }
        let extra = usage.list("extraRateWindows").filter { $0.flag("usageKnown") != false }
            .compactMap { extra in
                extra.fields("window").flatMap {
                    Self.window($0, minutes: $0.number("windowMinutes"), label: extra.text("title"), isExtra: true)
                }
            }
        return own + extra
    }

    /// The dashboard states kinds instead of lengths; a session is five hours long only where that is known.
    private var dashboardWindows: [SyncRateWindow] {
        fields.list("windows").filter { $0.flag("idle") != true }.compactMap { window in
            let minutes: Int? =
                switch window.text("kind") {
                case "weekly": WindowKind.weeklyMinutes
                case "session" where ["claude", "codex"].contains(id): WindowKind.sessionMinutes
                default: nil
                }
            return Self.window(window, minutes: minutes.map(Double.init), label: window.text("label"))
        }
    }

    /// Nil without a percentage, and for a window that only stands for a missing one. The label of a general session or
    /// week says no more than its length.
    private static func window(
        _ window: JSONFields, minutes: Double?, label: String?, isExtra: Bool = false
    ) -> SyncRateWindow? {
        guard let used = window.number("usedPercent"), window.flag("isSyntheticPlaceholder") != true else { return nil }
        let minutes = minutes.flatMap { Int(exactly: $0.rounded()) }
        let kind = minutes.map { WindowKind(minutes: $0, place: 0) }
        let isGeneral = !isExtra && (kind == .session || kind == .weekly)
        return SyncRateWindow(
            usedPercent: used, windowMinutes: minutes, resetsAt: window.reset("resetsAt", "resetAt"),
            resetDescription: window.text("resetDescription"), label: isGeneral ? nil : label)
    }
}

/// CodexBar's names of the providers whose ids do not tell.
private enum ProviderNames {
    private static let names = [
        "alibabatokenplan": "Alibaba Token Plan", "azureopenai": "Azure OpenAI", "bedrock": "AWS Bedrock",
        "clinepass": "ClinePass", "commandcode": "Command Code", "deepinfra": "DeepInfra", "deepseek": "DeepSeek",
        "elevenlabs": "ElevenLabs", "factory": "Droid", "ibmbob": "IBM Bob", "jetbrains": "JetBrains AI",
        "litellm": "LiteLLM", "llmproxy": "LLM Proxy", "minimax": "MiniMax", "openai": "OpenAI", "opencode": "OpenCode",
        "opencodego": "OpenCode Go", "openrouter": "OpenRouter", "qwencloud": "Qwen Cloud", "stepfun": "StepFun",
        "t3chat": "T3 Chat", "vertexai": "Vertex AI", "xai": "xAI", "zai": "z.ai",
    ]

    static func name(of id: String) -> String {
        names[id] ?? id.prefix(1).uppercased() + id.dropFirst()
    }
}
