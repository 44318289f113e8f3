import Essentials
import KVStoreWire
import SnapshotModels
import UsageState

extension UsageQuery {
    /// The accounts that the query names, with the windows that it names. Case does not matter.
    ///
    /// Throws if there are providers, but none that the query names.
    func selection(of providers: [ProviderState]) throws(Problem) -> [ProviderState] {
        let named = try Self.matching(provider, "provider", in: providers) {
            [$0.snapshot.providerID, $0.snapshot.providerName]
        }
        let owned = try Self.matching(account, "account", in: named) { [$0.snapshot.accountEmail ?? ""] }
        let limited = try Self.matching(window, "window", in: owned) { $0.windows.flatMap(\.label.names) }
        guard let window else { return limited }
        return limited.map { provider in
            var provider = provider
            provider.windows.removeAll { state in !state.label.names.contains { $0.isName(window) } }
            return provider
        }
    }

    private static func matching(
        _ name: String?, _ parameter: String, in providers: [ProviderState], names: (ProviderState) -> [String]
    ) throws(Problem) -> [ProviderState] {
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

extension String {
    fileprivate func isName(_ other: String) -> Bool { lowercased() == other.lowercased() }
}
