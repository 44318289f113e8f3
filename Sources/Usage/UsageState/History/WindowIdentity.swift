import SnapshotModels

/// Which limit of which account a number is about, the same on every device and for every later observation.
package struct WindowIdentity: Sendable, Hashable {
    package let providerID: String
    /// The account's name as the merge of snapshots compares it; nil without one.
    package let account: String?
    /// As shown, see `WindowLabel`.
    package let label: String
    /// The nominal length; nil if unknown.
    package let minutes: Int?

    /// The same limit of another account.
    func of(account: String?) -> WindowIdentity {
        WindowIdentity(providerID: providerID, account: account, label: label, minutes: minutes)
    }
}

extension WindowIdentity {
    init(_ provider: ProviderUsageSnapshot, _ window: SyncRateWindow, label: WindowLabel) {
        self.init(
            providerID: provider.providerID, account: provider.accountKey, label: label.text,
            minutes: window.nominalMinutes)
    }
}

extension WindowIdentity: Comparable {
    /// By provider, account (those without a name last), length, label.
    package static func < (left: WindowIdentity, right: WindowIdentity) -> Bool {
        if left.providerID != right.providerID { return left.providerID < right.providerID }
        if left.account != right.account {
            guard let first = left.account else { return false }
            return right.account.map { first < $0 } ?? true
        }
        return (left.minutes ?? .max, left.label) < (right.minutes ?? .max, right.label)
    }
}
