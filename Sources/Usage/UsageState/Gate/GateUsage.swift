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
        package var isHere = false
        package var windows: [Window]
    }

    package var accounts: [Account] = []
    package var rules = GateRules()
    /// Why nothing is known; nil otherwise.
    package private(set) var issue: String?

    package static let byteLimit = 65_536
    private static let accountLimit = 32
    fileprivate static let windowLimit = 16
    private static let lastSecond = 253_402_300_799.0

    package init(accounts: [Account] = [], rules: GateRules = GateRules()) {
        self.accounts = accounts
        self.rules = rules
    }

    /// - Parameters:
    ///   - rules: those of the account, as they are stored.
    ///   - device: the id of this machine, if it pushes.
    package init(_ data: UsageData, rules: Data?, device: String?, now: Date) {
        let device = device?.lowercased()
        let providers = ViewModel(data: data, now: now, zone: .local).providers.prefix(Self.accountLimit)
        self.init(accounts: providers.map { Account($0, device: device) }, rules: GateRules(reading: rules))
    }

    /// Nothing for what is damaged or too long, with the reason.
    package init(reading data: Data?) {
        guard let data else {
            issue = "nothing has been pushed yet"
            return
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        // What is wrong with it helps nobody: it is written again with the next change.
        let usage = data.count <= Self.byteLimit ? try? decoder.decode(GateUsage.self, from: data) : nil
        if let usage, usage.isPlausible {
            self = usage
        } else {
            issue = "the file of numbers is damaged"
        }
    }

    /// Seconds for which what another process has kept counts more than that it is not known here.
    private static let mergeAge: TimeInterval = 60

    /// With what is newer in the file. Several processes keep it, and one that has read the store a moment earlier than
    /// another may come after it.
    package func merged(with kept: GateUsage, now: Date) -> GateUsage {
        var merged = self
        merged.accounts = accounts.map { account in
            kept.accounts.first { $0.isSame(as: account) && $0.observedAt > account.observedAt } ?? account
        }
        merged.accounts += kept.accounts.filter { other in
            abs(now.timeIntervalSince(other.observedAt)) < Self.mergeAge
                && !accounts.contains { $0.isSame(as: other) }
        }
        let (changedAt, other) = (rules.changedAt ?? 0, kept.rules.changedAt ?? 0)
        if other > changedAt, abs(now.timeIntervalSince1970 - other) < Self.mergeAge { merged.rules = kept.rules }
        return merged
    }

    /// The bytes of the file; nil if they would be too many.
    package var data: Data? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .secondsSince1970
        let data = encoder.data(of: self)
        return data.count <= Self.byteLimit ? data : nil
    }

    /// Whether all times are such that a text can state them.
    private var isPlausible: Bool {
        let dates =
            accounts.map(\.observedAt)
            + accounts.flatMap(\.windows).flatMap { [$0.resetsAt, $0.runsOutAt] }
            .compactMap { $0 }
        return accounts.count <= Self.accountLimit
            && dates.allSatisfy { (0...Self.lastSecond).contains($0.timeIntervalSince1970) }
    }

    private enum CodingKeys: CodingKey { case accounts, rules }
}

extension GateUsage.Account {
    fileprivate func isSame(as other: GateUsage.Account) -> Bool {
        provider == other.provider && account?.lowercased() == other.account?.lowercased()
    }

    fileprivate init(_ state: ProviderState, device: String?) {
        self.init(
            provider: state.snapshot.providerID, name: state.snapshot.providerName,
            account: state.snapshot.accountEmail,
            machine: state.source, observedAt: state.snapshot.lastUpdated, isEstimate: state.snapshot.isEstimate,
            isHere: device.map(state.deviceIDs.contains) ?? false,
            windows: state.windows.filter { $0.window.usedPercent.isFinite }.prefix(GateUsage.windowLimit).map(
                GateUsage.Window.init))
    }
}

extension GateUsage.Window {
    /// Words of labels that name no model.
    private static let generalWords: Set = [
        "session", "weekly", "daily", "monthly", "limit", "individual", "usage", "period", "only", "model", "window",
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
