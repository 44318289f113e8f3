import Foundation
import SnapshotModels

/// The accounts of one home of a tool, and what was read there.
struct AccountCards {
    let providerID: String
    let home: String
    /// The account that is logged in; nil when its file names none.
    let present: String?
    private(set) var accounts: AccountHistory

    /// - Parameter changedAt: when the file that names the account was written.
    init(
        providerID: String, home: String, present: String?, changedAt: Date,
        accounts: AccountHistory
    ) {
        self.providerID = providerID
        self.home = home
        self.present = present
        self.accounts = accounts
        if let present {
            self.accounts.note(
                providerID: providerID, home: home, account: present, changedAt: changedAt)
        }
    }

    /// The account that a reading belongs to: the one that it names, else the one that was logged in at its time.
    func account(of reading: LimitReading) -> String? {
        guard let present else { return nil }
        return reading.account
            ?? accounts.account(providerID: providerID, home: home, at: reading.observedAt)
            ?? present
    }

    /// The card of the account that is logged in, then those of former accounts with windows that have not been reset.
    ///
    /// - Parameter card: the card that evidence of one account gives.
    mutating func cards(
        of evidence: Evidence, at now: Date, card: (Evidence) -> ProviderUsageSnapshot?
    ) -> [ProviderUsageSnapshot] {
        let own = card(evidence.filter { account(of: $0) == present })
        var cards = [own].compactMap { $0 }
        for entry in accounts.former(providerID: providerID, home: home) {
            // Without another address a viewer could not tell the accounts apart.
            guard var former = entry.card, let address = former.accountEmail,
                address.lowercased() != own?.accountEmail?.lowercased()
            else { continue }
            let later = card(evidence.filter { account(of: $0) == entry.account })
            if let later, later.lastUpdated > former.lastUpdated {
                former.rateWindows = later.rateWindows
                former.primary = later.primary
                former.secondary = later.secondary
                former.lastUpdated = later.lastUpdated
            }
            if let shown = former.notLoggedIn(at: now) { cards.append(shown) }
        }
        if let present, let own, !own.isError {
            accounts.keep(own, providerID: providerID, home: home, account: present)
        }
        return cards
    }

    func considered(_ evidence: Evidence, name: String?, at now: Date) -> [ConsideredReading] {
        evidence.considered(
            account: { account(of: $0) }, present: present, shownAs: name, at: now)
    }
}
