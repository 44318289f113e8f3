import ClockZones
package import Essentials
import SnapshotModels

/// What the gate knows: the numbers of all machines and the rules of the account, in one small file, so that a hook,
/// which runs for every call of a tool, opens neither the replica nor the network.
package struct GateUsage: Sendable, Equatable, Codable {
    package struct Window: Sendable, Equatable, Codable {
        package var label: String
        /// What a rule may call it, see `WindowLabel.names`.
        package var names: [String]
        /// Words that the name of a model must have for the window to count; empty for all models.
        package var models: [String] = []
        package var minutes: Int?
        package var used: Double
        package var resetsAt: Date?
        package var runsOutAt: Date?
        /// Nil if with the others of the account.
        package var observedAt: Date?
    }

    package struct Account: Sendable, Equatable, Codable {
        package var provider: String
        package var name: String
        package var account: String?
        /// The machine that the numbers are from.
        package var machine: String?
        package var observedAt: Date
        package var isEstimate = false
        /// Whether this machine has a tool that is signed in to it.
        package var isLocal = false
        package var windows: [Window]
        /// Those that the windows are of, if they are no limits of the provider.
        package var budgets: [Budget]?
    }

    package var accounts: [Account] = []
    package var rules = GateRules()
    /// The projects as which others count, if a budget is of a project.
    package var projects: [String: String]?
    /// Why nothing is known; nil otherwise.
    package private(set) var issue: String?

    package static let byteLimit = 65_536
    private static let accountLimit = 32
    fileprivate static let windowLimit = 16

    package init(accounts: [Account] = [], rules: GateRules = GateRules()) {
        self.accounts = accounts
        self.rules = rules
    }

    /// - Parameters:
    ///   - rules: of the account.
    ///   - device: the id of this machine, if it pushes.
    package init(_ data: UsageData, rules: GateRules = GateRules(), device: String? = nil, now: Date) {
        let device = device?.lowercased()
        let providers = ViewModel(data: data, now: now, zone: .local).providers.prefix(Self.accountLimit)
        let budgets = data.budgets.map { budget in
            var budget = budget
            budget.project = budget.project.map(data.projects.target)
            return budget
        }
        self.init(accounts: providers.map { Account($0, device: device, budgets) }, rules: rules)
        if hasProjects { projects = data.projects.targets }
    }

    /// Whether it depends on the value under a key.
    package static func isKey(_ key: String) -> Bool { UsageData.isKey(key) || GateRules.isKey(key) }

    /// One limit that its provider says is reached.
    package init(reached limit: String, of provider: String, name: String, resetsAt: Date?, at date: Date) {
        let window = Window(label: limit, names: [], used: 100, resetsAt: resetsAt)
        self.init(accounts: [Account(provider: provider, name: name, observedAt: date, windows: [window])])
    }

    /// Nothing for what is damaged or too long, with the reason.
    package init(reading data: Data?) {
        guard let data else {
            issue = "no usage is known yet; run usage-push"
            return
        }
        // What is wrong with it helps nobody: the next change rewrites it.
        let usage = StoredJSON.decode(GateUsage.self, from: data, byteLimit: Self.byteLimit)
        if let usage, usage.isPlausible {
            self = usage
        } else {
            issue = "the file of numbers is damaged"
        }
    }

    /// Whether a budget is of one project.
    package var hasProjects: Bool { accounts.contains { $0.budgets?.contains { $0.project != nil } ?? false } }

    /// The bytes of the file; nil if they would be too many.
    package var data: Data? {
        let data = StoredJSON.data(of: self)
        return data.count <= Self.byteLimit ? data : nil
    }

    /// Whether all dates can be formatted.
    private var isPlausible: Bool {
        let dates =
            accounts.map(\.observedAt)
            + accounts.flatMap(\.windows).flatMap { [$0.resetsAt, $0.runsOutAt, $0.observedAt] }
            .compactMap { $0 }
        return accounts.count <= Self.accountLimit
            && dates.allSatisfy { SnapshotLimits.secondsSince1970.contains($0.timeIntervalSince1970) }
    }

    private enum CodingKeys: CodingKey { case accounts, rules, projects }
}

extension GateUsage.Account {
    fileprivate init(_ state: ProviderState, device: String?, _ budgets: [Budget]) {
        self.init(
            provider: state.snapshot.providerID, name: state.snapshot.providerName,
            account: state.snapshot.accountEmail,
            machine: state.source, observedAt: state.snapshot.lastUpdated, isEstimate: state.snapshot.isEstimate,
            isLocal: device.map(state.deviceIDs.contains) ?? false,
            windows: state.windows.filter { $0.window.usedPercent.isFinite }.prefix(GateUsage.windowLimit).map(
                GateUsage.Window.init))
        if provider == Budget.providerID { self.budgets = budgets.filter { $0.isOf(state.snapshot) } }
    }
}

extension GateUsage.Window {
    /// Words of labels that name no model.
    private static let generalWords: Set = [
        "session", "weekly", "daily", "monthly", "limit", "individual", "usage", "period", "only", "model", "window",
        "tokens",
    ]

    fileprivate init(_ state: WindowState) {
        label = state.label.text
        names = state.label.names
        let isNamed = state.label.kind == .other && state.window.label?.isEmpty == false
        models = isNamed ? Self.words(of: state.label.text).filter { !Self.generalWords.contains($0) } : []
        minutes = state.window.windowMinutes
        used = state.window.usedPercent
        resetsAt = state.window.resetsAt
        runsOutAt = state.pace?.runsOutAt
        observedAt = state.window.observedAt
    }

    /// Whether it is a limit of this model; nil if that is not known.
    func counts(for model: String?) -> Bool? {
        guard !models.isEmpty else { return true }
        guard let model else { return nil }
        let words = Set(Self.words(of: model))
        return models.allSatisfy(words.contains)
    }

    /// "GPT-5.3-Codex-Spark" is gpt, codex, spark; versions are left out, because labels have them or not.
    private static func words(of text: String) -> [String] {
        text.lowercased().split { !$0.isLetter }.map(String.init).filter { $0.count > 1 }
    }
}
