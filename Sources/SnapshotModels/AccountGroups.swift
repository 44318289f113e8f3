/// Decides which readings speak of the same provider account.
///
/// - Same provider id and same account name (case ignored) are one account.
/// - Readings without an account name are one account among themselves: the format's first
///   writers knew one account per provider.
/// - They join the named account when the provider has exactly one. With two or more there is no
///   telling which one they mean, and they stay an account of their own.
enum AccountGroups {
    /// Groups ordered by provider id, then account, the unnamed last; readings keep their order.
    static func grouped(_ readings: [Reading]) -> [[Reading]] {
        let byProvider = Dictionary(grouping: readings, by: \.provider.providerID)
        return byProvider.keys.sorted().flatMap { providerID in
            accounts(of: byProvider[providerID] ?? [])
        }
    }

    private static func accounts(of readings: [Reading]) -> [[Reading]] {
        let named = Set(readings.compactMap(\.account?.key)).sorted()
        if named.count <= 1 { return [readings] }
        var groups = named.map { name in readings.filter { $0.account?.key == name } }
        let unnamed = readings.filter { $0.account == nil }
        if !unnamed.isEmpty { groups.append(unnamed) }
        return groups
    }
}
