import Essentials
import SnapshotModels

/// The accounts of one home of a tool, and what was read there.
struct AccountCards {
    let providerID: String
    let home: String
    /// The account that is logged in; nil when its file names none.
    let present: String?
    private let organization: String?
    /// Whether the present account can have limits. Without, every reading is of an earlier one.
    private let hasLimits: Bool
    /// Whether readings that name an account are of this home.
    private let areReadingsOwn: Bool
    private let conflict: (LimitReading) -> LoginConflict?
    private(set) var accounts: AccountHistory

    /// - Parameters:
    ///   - changedAt: when the file that names the account was written.
    ///   - areReadingsOwn: false when some that name another account may be of another home.
    ///   - conflict: what in the reading and the login contradicts that the one is of the other.
    init(
        providerID: String, home: String, present: String?, organization: String? = nil, hasLimits: Bool = true,
        changedAt: Date, accounts: AccountHistory, areReadingsOwn: Bool = true,
        conflict: @escaping (LimitReading) -> LoginConflict? = { _ in nil }
    ) {
        self.providerID = providerID
        self.home = home
        self.present = present
        self.organization = organization
        self.hasLimits = hasLimits
        self.areReadingsOwn = areReadingsOwn
        self.conflict = conflict
        self.accounts = accounts
        if let present {
            self.accounts.record(providerID: providerID, home: home, account: present, changedAt: changedAt)
        }
    }

    /// The account that a reading belongs to: the one that it names, else the one that was seen to be logged in at its
    /// time, else the present one unless something contradicts; nil when that is unknown.
    func account(of reading: LimitReading) -> String? {
        guard let present else { return nil }
        let account = reading.account ?? loggedIn(at: reading.observedAt) ?? present
        return account == present && (!hasLimits || conflict(of: reading) != nil) ? nil : account
    }

    /// Whether no other account was seen to be logged in at one time than at another.
    func hasOneLogin(from start: Date, to end: Date) -> Bool { loggedIn(at: start) == loggedIn(at: end) }

    private func loggedIn(at time: Date) -> String? {
        accounts.account(providerID: providerID, home: home, at: time)
    }

    /// Why a reading does not belong to the present account; nil when it does, and when another account is known that
    /// it belongs to.
    func conflict(of reading: LimitReading) -> LoginConflict? {
        guard let present, hasLimits else { return nil }
        if let account = reading.account {
            let isKnown = accounts.former(providerID: providerID, home: home).contains { $0.account == account }
            return account == present || isKnown || !areReadingsOwn ? nil : .account
        }
        let wasSeen = accounts.sawLogin(providerID: providerID, home: home, of: present, before: reading.observedAt)
        guard !wasSeen, (loggedIn(at: reading.observedAt) ?? present) == present else { return nil }
        return conflict(reading)
    }

    /// The card of the account that is logged in, then those of former accounts with windows that have not been reset.
    ///
    /// - Parameter card: the card that evidence of one account gives.
    mutating func cards(
        of evidence: Evidence, at now: Date, card: (Evidence) -> ProviderUsageSnapshot?
    ) -> [AccountCard] {
        var own = card(evidence.filter { account(of: $0) == present })
        if let conflict = lastConflict(in: evidence, at: now), own?.hasNumbers == false {
            own?.state("The last reading is \(conflict.reason)")
        }
        var cards = [own].compactMap { $0 }.map {
            AccountCard(snapshot: $0, account: present, organization: organization)
        }
        for entry in accounts.former(providerID: providerID, home: home) {
            // Without an address a viewer could not tell the accounts apart.
            guard var former = entry.card, former.accountEmail != nil else { continue }
            let later = card(evidence.filter { account(of: $0) == entry.account })
            if let later, later.lastUpdated > former.lastUpdated {
                former.rateWindows = later.rateWindows
                former.primary = later.primary
                former.secondary = later.secondary
                former.lastUpdated = later.lastUpdated
            }
            if let shown = former.notLoggedIn(at: now) {
                cards.append(AccountCard(snapshot: shown, account: entry.account, organization: entry.organization))
            }
        }
        if let present, let own, !own.isError {
            accounts.keep(own, providerID: providerID, home: home, account: present, organization: organization)
        }
        return cards
    }

    /// The conflict of the newest reading of which a window is still in effect.
    func lastConflict(in evidence: Evidence, at now: Date) -> LoginConflict? {
        evidence.newest { reading in
            conflict(of: reading) != nil
                && reading.windows.contains {
                    $0.isLive(observedAt: reading.observedAt, at: now)
                }
        }.flatMap { conflict(of: $0) }
    }

    func considered(_ evidence: Evidence, name: String?, at now: Date) -> [ConsideredReading] {
        evidence.considered(
            account: { account(of: $0) }, present: present, shownAs: name, conflict: { conflict(of: $0) }, at: now)
    }
}

/// A card and the account that it is about.
struct AccountCard {
    var snapshot: ProviderUsageSnapshot
    /// The fingerprint of the account's id; nil when it is unknown.
    var account: String?
    var organization: String?
}

extension [AccountCard] {
    /// The cards with distinct names: viewers group by address, which several accounts may share. Those that do are
    /// named after their organizations, or else their ids.
    var distinctlyNamed: [ProviderUsageSnapshot] {
        let byAddress = Dictionary(grouping: self) { $0.snapshot.accountEmail?.lowercased() }
        return map { card in
            guard let address = card.snapshot.accountEmail, let account = card.account,
                let sharing = byAddress[address.lowercased()]
            else { return card.snapshot }
            let accountCount = Set(sharing.map(\.account)).count
            guard accountCount > 1 else { return card.snapshot }
            let areNamed = Set(sharing.compactMap(\.organization)).count == accountCount
            let name = areNamed ? card.organization : nil
            var snapshot = card.snapshot
            snapshot.accountEmail = "\(address) (\(name ?? String(account.prefix(4))))"
            return snapshot
        }
    }
}
