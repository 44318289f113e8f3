import Essentials
import SnapshotModels
import TerminalText
import UsageState

/// Lines for people: one for each window, and one for costs. In UTF-8, without colors.
enum UsageText {
    static let lineLimit = 200
    /// Cells of a name.
    private static let nameCells = 32

    static func text(_ model: ViewModel, _ providers: [ProviderState], hasWindowsOnly: Bool) -> String {
        guard model.situation == .ready else { return emptyState(model) + "\n" }
        let counts = Dictionary(grouping: providers, by: \.snapshot.providerID).mapValues(\.count)
        var rows: [[String]] = []
        for provider in providers where rows.count <= lineLimit {
            let isShared = counts[provider.snapshot.providerID, default: 0] > 1
            let name = Self.name(of: provider, isAccountShown: isShared)
            rows += windows(of: provider, model).map { [name] + $0 }
            if !hasWindowsOnly { rows += details(of: provider).map { [name] + $0 } }
        }
        var table = TextTable(columns: Array(repeating: TextTable.Column(""), count: 3))
        for row in rows.prefix(lineLimit) { table.append(row) }
        let more = "… and more: ask for one provider, account or window"
        return (table.lines() + (rows.count > lineLimit ? [more] : [])).map { $0 + "\n" }.joined()
    }

    private static func name(of provider: ProviderState, isAccountShown: Bool) -> String {
        let snapshot = provider.snapshot
        return [snapshot.providerName, isAccountShown ? snapshot.accountEmail ?? "" : ""]
            .filter { !$0.isEmpty }.map { $0.cell(nameCells) }.joined(separator: " ")
    }

    private static func windows(of provider: ProviderState, _ model: ViewModel) -> [[String]] {
        let age = provider.ageText(model)
        return provider.windows.map { window in
            let reset = window.window.resetsAt.map(model.times.reset)
            var parts = [reset ?? (window.window.resetDescription ?? "").cell(nameCells)]
            if window.isExpired {
                parts.append("no newer data")
            } else {
                let percent = model.percentText(of: window, in: provider)
                parts.insert("\(percent), \(window.level.rawValue)", at: 0)
                parts += [window.pace?.text.text(model.times) ?? "", age]
            }
            return [
                window.label.text.cell(nameCells),
                parts.filter { !$0.isEmpty }.joined(separator: " · "),
            ]
        }
    }

    private static func details(of provider: ProviderState) -> [[String]] {
        let snapshot = provider.snapshot
        let status = (snapshot.statusMessage ?? "").cell(120)
        var rows: [[String]] = []
        if snapshot.isError {
            rows.append(["Error", status.isEmpty ? "no reason given" : status])
        } else if !status.isEmpty {
            rows.append(["Status", status])
        }
        if let credits = snapshot.credits?.summary { rows.append(["Credits", credits]) }
        if let cost = provider.cost?.summary { rows.append(["Cost", cost]) }
        if rows.isEmpty, provider.windows.isEmpty { rows.append(["", "no limits reported"]) }
        return rows
    }

    private static func emptyState(_ model: ViewModel) -> String {
        switch model.situation {
        case .noProviders:
            "No providers: run usage-push sources on the machine that pushes to see where it looks."
        case .unreadable:
            "The stored snapshot cannot be read: push again with the current usage-push, or update kvsd."
        case .ready, .notJoined, .removed, .waitingForFirstPush, .offlineWithoutData:
            "Waiting for the first push: start usage-push on the machine where you work."
        }
    }
}

extension ViewModel {
    /// "43 % used", "~57 % left" for what is computed from local logs.
    func percentText(of state: WindowState, in provider: ProviderState) -> String {
        (provider.snapshot.isEstimate ? "~" : "") + percentText(used: state.window.usedPercent)
    }
}

extension ProviderState {
    /// Why its numbers may be old; empty for fresh ones.
    fileprivate func ageText(_ model: ViewModel) -> String {
        switch freshness {
        case .fresh: ""
        case .cached: "as of " + model.times.past(snapshot.lastUpdated)
        case .stale: "stale, as of " + model.times.past(snapshot.lastUpdated)
        case .clockAhead: "clock ahead"
        }
    }
}

extension String {
    /// Text from outside, escaped, of at most `cells`.
    func cell(_ cells: Int) -> String {
        // Before it is escaped, as it may have a megabyte.
        let start = String(unicodeScalars.prefix(8 * cells))
        return VisibleText.escape(start).truncated(toCells: cells)
    }
}
