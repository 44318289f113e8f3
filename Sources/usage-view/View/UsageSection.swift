import Essentials
import TerminalText
import UsageState

/// All provider accounts as cards, and below them the devices.
enum UsageSection {
    static func listing(_ model: LiveModel, width: Int) -> Listing {
        let usage = model.usage
        guard usage.situation == .ready else {
            return Listing(items: [], empty: EmptyState.lines(for: usage, width: min(width, 90)))
        }
        let cards = usage.providers.map { ($0, ProviderCard($0, model: usage)) }
        let columns = RowColumns(fitting: cards.flatMap(\.1.rows), width: width)
        return Listing(
            items: cards.map { provider, card in ListItem(provider.id, card.lines(columns: columns, width: width)) },
            footer: DevicesSection.summary(model, width: width), areCards: true)
    }

    static func detail(_ model: LiveModel, id: String, width: Int, rows: Int, isBesideList: Bool) -> [StyledLine] {
        guard let provider = model.usage.providers.first(where: { $0.id == id }) else { return [] }
        return ProviderDetail(provider: provider, model: model, width: width, rows: rows, isBesideList: isBesideList)
            .lines
    }
}
