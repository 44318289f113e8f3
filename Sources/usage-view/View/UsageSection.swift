import Essentials
import TerminalText
import UsageState

/// All provider accounts as cards, and below them the devices.
enum UsageSection {
    /// - Parameters:
    ///   - columns: of accounts, each of the width.
    ///   - rows: lines that there are; nil for as many as it takes.
    static func listing(_ model: LiveModel, width: Int, columns: Int = 1, rows: Int? = nil) -> Listing {
        let usage = model.usage
        guard usage.situation == .ready else {
            return Listing(items: [], empty: EmptyState.lines(for: usage, width: min(width, 90)))
        }
        let footer = DevicesSection.summary(model, width: width)
        let room = rows.map { max(1, $0 - footer.count - 1) }
        let accounts = AccountLines(usage, columns: columns, width: width, rows: room)
        // Where not even rows fit, what they are of is more than who pushes.
        let isRoomy = room.map { MasonryLayout(accounts.items, columns: columns).height <= $0 } ?? true
        let moves = usage.order?.moves ?? [:]
        return Listing(
            items: zip(usage.providers, zip(accounts.lines, accounts.forms)).map { provider, account in
                ListItem(
                    provider.id, account.0, isSpaced: account.1 == .card,
                    sign: moves[provider.id].map { $0 < 0 ? "↑" : "↓" } ?? " ",
                    moreText: (provider.windows.map(\.label.text) + provider.deviceNames).joined(separator: " "))
            },
            footer: isRoomy ? footer : [])
    }

    static func detail(_ model: LiveModel, id: String, width: Int, rows: Int, isBesideList: Bool) -> [StyledLine] {
        guard let provider = model.usage.providers.first(where: { $0.id == id }) else { return [] }
        return ProviderDetail(provider: provider, model: model, width: width, rows: rows, isBesideList: isBesideList)
            .lines
    }
}
