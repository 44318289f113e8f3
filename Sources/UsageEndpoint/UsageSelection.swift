import Essentials
import KVStoreWire
import SnapshotModels
import UsageState

/// The accounts and windows that a query names. Names are compared without regard to case.
struct UsageSelection {
    struct Provider {
        let state: ProviderState
        let windows: [WindowState]
        /// With these windows.
        let report: UsageReport.Provider

        /// The window with the least left that has not passed its reset.
        var tightestWindow: WindowState? {
            windows.filter { !$0.isExpired }
                .min { $0.window.remainingPercent < $1.window.remainingPercent }
        }
    }

    let providers: [Provider]

    /// Throws if there are providers, but none that the query names.
    init(_ model: ViewModel, _ report: UsageReport, _ query: UsageQuery) throws(Problem) {
        let all = zip(model.providers, report.providers).map {
            Provider(state: $0, windows: $0.windows, report: $1)
        }
        let named = try Self.matching(query.provider, "provider", in: all) {
            [$0.state.snapshot.providerID, $0.state.snapshot.providerName]
        }
        let owned = try Self.matching(query.account, "account", in: named) {
            [$0.state.snapshot.accountEmail ?? ""]
        }
        let limited = try Self.matching(query.window, "window", in: owned) {
            $0.windows.flatMap(\.names)
        }
        providers = query.window.map { name in limited.map { $0.only(name) } } ?? limited
    }

    private static func matching(
        _ name: String?, _ parameter: String, in providers: [Provider],
        names: (Provider) -> [String]
    ) throws(Problem) -> [Provider] {
        guard let name, !providers.isEmpty else { return providers }
        let found = providers.filter { provider in names(provider).contains { $0.isName(name) } }
        guard found.isEmpty else { return found }
        var known: [String] = []
        for name in providers.lazy.flatMap(names) where !name.isEmpty && !known.contains(name) {
            known.append(name)
            if known.count == 12 { break }
        }
        throw .unknownUsage(
            "there is no \(parameter) '\(name.shown)'",
            hint: known.isEmpty
                ? "leave \(parameter) out"
                : "there is " + known.map { "'\($0.shown)'" }.joined(separator: ", "))
    }
}

extension UsageSelection.Provider {
    fileprivate func only(_ name: String) -> Self {
        let indices = windows.indices.filter { index in
            windows[index].names.contains { $0.isName(name) }
        }
        var report = report
        report.windows = indices.map { report.windows[$0] }
        return Self(state: state, windows: indices.map { windows[$0] }, report: report)
    }
}

extension WindowState {
    /// "Session (5h)", "5h", "session".
    fileprivate var names: [String] {
        let kind =
            switch label.kind {
            case .session: "session"
            case .weekly: "weekly"
            case .other: label.text
            }
        return [label.text, label.short, kind]
    }
}

extension String {
    fileprivate func isName(_ other: String) -> Bool { lowercased() == other.lowercased() }
}
