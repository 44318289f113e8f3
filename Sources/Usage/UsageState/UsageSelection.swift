import SnapshotModels

/// Which accounts and windows a line, a gate or a wait is about. What is empty or nil selects all; case is ignored.
package struct UsageSelection: Sendable, Equatable {
    /// Ids or names, in the order in which they are shown.
    package var providers: [String]
    /// A label, in full or short: "weekly", "5h", "Session (5h)", "Opus".
    package var window: String?
    /// The account's name.
    package var account: String?

    package init(providers: [String] = [], window: String? = nil, account: String? = nil) {
        self.providers = providers
        self.window = window
        self.account = account
    }

    /// The selected accounts: as the providers are named here, else in their order.
    package func accounts(of states: [ProviderState]) -> [ProviderState] {
        let states = states.filter { state in account.map { Self.isSame($0, state.snapshot.accountEmail) } ?? true }
        guard !providers.isEmpty else { return states }
        var chosen: [ProviderState] = []
        for name in providers {
            chosen += states.filter { state in Self.isProvider(state, named: name) && !chosen.contains(state) }
        }
        return chosen
    }

    /// The selected accounts in their order, with the selected windows alone.
    func selected(of states: [ProviderState]) -> [ProviderState] {
        let chosen = Set(accounts(of: states).map(\.id))
        return states.filter { chosen.contains($0.id) }.compactMap { state in
            var state = state
            state.windows = windows(of: state)
            return window == nil || !state.windows.isEmpty ? state : nil
        }
    }

    /// The selected windows of an account, in display order.
    package func windows(of state: ProviderState) -> [WindowState] {
        state.windows.filter { window in
            guard let wanted = self.window else { return true }
            return window.label.names.contains { Self.isSame(wanted, $0) }
        }
    }

    /// The first name that no provider has; nil if all are known.
    package func unknownProvider(among states: [ProviderState]) -> String? {
        providers.first { name in !states.contains { Self.isProvider($0, named: name) } }
    }

    private static func isProvider(_ state: ProviderState, named name: String) -> Bool {
        isSame(name, state.snapshot.providerID) || isSame(name, state.snapshot.providerName)
    }

    /// Whether a name that a user has given is this one.
    static func isSame(_ wanted: String, _ text: String?) -> Bool { text?.lowercased() == wanted.lowercased() }
}
