// The past of every window: its slots, their codec and merge, and what is learned from them.

package import Essentials
package import SnapshotModels

/// The past of the windows that one device knows, or of all devices.
package struct UsageHistory: Sendable, Equatable {
    package private(set) var windows: [WindowIdentity: WindowHistory] = [:]
    /// Providers with several cards, of which one without an account's name is not that of another.
    private var separateProviders: Set<String> = []

    /// Windows of one value, and of all.
    static let windowLimit = 256
    private static let mergedWindowLimit = 1_024

    /// Begins the keys of history, which must not begin as those of snapshots do.
    package static let storeKeyPrefix = "com.codexbar.usage.history."

    /// The key of one device's history: 63 bytes.
    package static func storeKey(deviceID: String) -> String { storeKeyPrefix + deviceID }

    package init() {}

    init(windows: [WindowIdentity: WindowHistory]) { self.windows = windows }

    /// The history of all devices.
    ///
    /// - Parameters:
    ///   - values: the values of the store; those under other keys are ignored, and what cannot be read.
    package init(values: [String: Data], now: Date) { self.init(merging: DeviceHistory.all(in: values), now: now) }

    /// - Parameter providers: what the devices state now. A device's windows are those of the account that its card is
    ///   of.
    init(merging devices: [DeviceHistory], accountsOf providers: [MergedProvider] = [], now: Date) {
        let accounts = HistoryAccounts(providers)
        separateProviders = accounts.separateProviders
        for device in devices {
            var history = accounts.attributed(device)
            history.trim(at: now)
            merge(history)
        }
        adoptUnnamed()
    }

    package mutating func merge(_ other: UsageHistory) {
        for (identity, history) in other.windows.sorted(by: { $0.key < $1.key }) {
            if let known = windows[identity] {
                windows[identity] = known.merged(with: history)
            } else if windows.count < Self.mergedWindowLimit {
                windows[identity] = history
            }
        }
    }

    /// The same of accounts with other names.
    func renamed(_ name: (String) -> String) -> UsageHistory {
        attributed { $0.of(account: $0.account.map { name($0).lowercased() }) }
    }

    /// The same of other windows.
    func attributed(to identity: (WindowIdentity) -> WindowIdentity) -> UsageHistory {
        var result = UsageHistory()
        result.separateProviders = separateProviders
        for (former, history) in windows { result.merge(UsageHistory(windows: [identity(former): history])) }
        return result
    }

    /// Gives the windows without an account's name to the only named account of the provider.
    private mutating func adoptUnnamed() {
        for (identity, history) in windows where identity.account == nil {
            guard let account = onlyAccount(of: identity.providerID) else { continue }
            windows[identity] = nil
            let named = identity.of(account: account)
            windows[named] = windows[named]?.merged(with: history) ?? history
        }
    }

    private func onlyAccount(of providerID: String) -> String? {
        if separateProviders.contains(providerID) { return nil }
        let names = Set(windows.keys.filter { $0.providerID == providerID }.compactMap(\.account))
        return names.count == 1 ? names.first : nil
    }

    /// The past of a window. One without an account's name is that of the provider's only account.
    package subscript(identity: WindowIdentity) -> WindowHistory? {
        if let history = windows[identity] { return history }
        guard !windows.isEmpty, identity.account == nil,
            let account = onlyAccount(of: identity.providerID)
        else { return nil }
        return windows[identity.of(account: account)]
    }

    /// Adds the windows of cards, each as of the time of its observation. Of several windows with one identity the
    /// first counts.
    ///
    /// - Returns: what has changed of each window.
    mutating func record(_ providers: [ProviderUsageSnapshot], now: Date) -> [WindowIdentity: WindowHistory.Change] {
        trim(at: now)
        let seconds = now.unixSeconds
        let limit = seconds + Self.tolerance
        var changes: [WindowIdentity: WindowHistory.Change] = [:]
        for provider in providers {
            for state in WindowState.inDisplayOrder(of: provider, now: now) {
                let time = state.observedAt.unixSeconds
                guard time <= limit, time > seconds - SlotTrack.coarse.span else { continue }
                guard changes[state.identity] == nil, HistoryCodec.isStorable(state.identity),
                    let level = PercentLevel(percent: state.window.usedPercent)
                else { continue }
                var history =
                    windows[state.identity]
                    ?? WindowHistory(last: .init(time: 0, level: .zero, resetsAt: nil))
                let change = history.observe(
                    level, resetsAt: state.window.resetsAt?.unixSeconds, at: time, isEstimate: provider.isEstimate)
                changes[state.identity] = change
                if change > .nothing || windows[state.identity] != nil { windows[state.identity] = history }
            }
        }
        for identity in windows.keys {
            let change = windows[identity]?.passReset(at: seconds) ?? .nothing
            changes[identity] = max(changes[identity] ?? .nothing, change)
        }
        return changes
    }

    /// Adds the present values of the shown cards, as the last ones of their windows.
    package mutating func add(_ providers: [ProviderUsageSnapshot], now: Date) { _ = record(providers, now: now) }

    /// Removes what is too old to be kept, and what is in the future.
    mutating func trim(at now: Date) {
        for identity in windows.keys {
            windows[identity]?.trim(at: now.unixSeconds, tolerance: Self.tolerance)
            if windows[identity]?.isEmpty == true { windows[identity] = nil }
        }
    }

    private static let tolerance = Int(SnapshotMerge.clockTolerance)
}

extension Date {
    /// Whole seconds since 1970 within what a snapshot may state.
    var unixSeconds: Int {
        let range = SnapshotLimits.secondsSince1970
        let seconds = timeIntervalSince1970
        return seconds.isNaN ? 0 : Int(min(max(seconds, range.lowerBound), range.upperBound).rounded(.down))
    }

    init(unixSeconds: Int) { self.init(timeIntervalSince1970: Double(unixSeconds)) }
}
