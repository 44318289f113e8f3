import Essentials
import SnapshotModels

/// Which account was logged in to a tool since when, and the last card of each.
///
/// The files of a tool seldom name the account that a number belongs to. The account that was logged in at the time
/// does.
///
/// ```swift
/// let reading = source.read(in: environment, at: now)
/// environment.accounts = reading.accounts ?? environment.accounts     // for the next read
/// ```
public struct AccountHistory: Codable, Sendable, Equatable {
    struct Entry: Codable, Sendable, Equatable {
        var providerID: String
        /// The tool's home directory.
        var home: String
        /// The fingerprint of the tool's id of the account.
        var account: String
        var since: Date
        /// The name of the organization, where the tool states one.
        var organization: String?
        /// As it was last shown; nil when there was nothing to show.
        var card: ProviderUsageSnapshot?
    }

    private static let limitPerHome = 8

    /// Oldest login first.
    private(set) var entries: [Entry] = []

    public init() {}

    /// Notes the account that is logged in now. The first one of a home counts as logged in ever since.
    ///
    /// - Parameter changedAt: when the file that names it was written.
    mutating func record(providerID: String, home: String, account: String, changedAt: Date) {
        let former = entries.last { $0.providerID == providerID && $0.home == home }
        guard former?.account != account else { return }
        let since = former.map { max($0.since, changedAt) } ?? .distantPast
        entries.append(Entry(providerID: providerID, home: home, account: account, since: since))
        let own = entries.indices.filter {
            entries[$0].providerID == providerID && entries[$0].home == home
        }
        if own.count > Self.limitPerHome { entries.remove(at: own[0]) }
    }

    /// The account that was logged in at a time; nil when none was recorded.
    func account(providerID: String, home: String, at time: Date) -> String? {
        let own = entries.filter { $0.providerID == providerID && $0.home == home }
        return (own.last { $0.since <= time } ?? own.first)?.account
    }

    /// Whether an account was seen to take the place of another before a time, and to be there still.
    func sawLogin(providerID: String, home: String, of account: String, before time: Date) -> Bool {
        let own = entries.filter { $0.providerID == providerID && $0.home == home }
        guard let last = own.last, own.count > 1 else { return false }
        return last.account == account && last.since <= time
    }

    /// The last login of every account that was logged in before the present one, the latest first.
    func former(providerID: String, home: String) -> [Entry] {
        let own = entries.filter { $0.providerID == providerID && $0.home == home }
        var seen = Set(own.suffix(1).map(\.account))
        return own.reversed().filter { seen.insert($0.account).inserted }
    }

    func hasSameLogins(as other: AccountHistory) -> Bool {
        entries.map(\.account) == other.entries.map(\.account)
    }

    /// Keeps the last card of an account.
    mutating func keep(
        _ card: ProviderUsageSnapshot?, providerID: String, home: String, account: String, organization: String?
    ) {
        guard
            let index = entries.lastIndex(where: {
                $0.providerID == providerID && $0.home == home && $0.account == account
            })
        else { return }
        entries[index].card = card
        entries[index].organization = organization
    }
}

extension String {
    /// 16 hexadecimal digits that distinguish ids without repeating them: FNV-1a, no protection of guessable texts.
    var fingerprint: String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension ProviderUsageSnapshot {
    /// The card of an account that is not logged in any more, with the windows that have not been reset; nil without
    /// any.
    func notLoggedIn(at now: Date) -> ProviderUsageSnapshot? {
        var card = self
        func live(_ window: SyncRateWindow?) -> SyncRateWindow? {
            window.flatMap { $0.resetsAt.map { $0 > now } ?? false ? $0 : nil }
        }
        card.rateWindows = windows.compactMap(live)
        card.primary = live(primary)
        card.secondary = live(secondary)
        card.budget = nil
        card.credits = nil
        card.isError = false
        card.statusMessage = "Not logged in on this machine"
        return card.windows.isEmpty ? nil : card
    }
}
