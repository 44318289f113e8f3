import SnapshotModels
import TerminalText
import UsageState

/// The accounts of a screen: each in the form that lets all of them be seen, if they can be.
struct AccountLines {
    let lines: [[StyledLine]]
    let forms: [UsageDensity]

    var items: [MasonryLayout.Item] {
        zip(lines, forms).map { (height: $0.count, isSpaced: $1 == .card) }
    }

    /// - Parameters:
    ///   - columns: of accounts, side by side.
    ///   - width: of one.
    ///   - rows: lines that there are; nil for as many as it takes.
    init(_ model: ViewModel, columns: Int, width: Int, rows: Int?) {
        let counts = Dictionary(grouping: model.providers, by: \.snapshot.providerID).mapValues(\.count)
        let cards = model.providers.map {
            ProviderCard($0, model: model, isShared: counts[$0.snapshot.providerID, default: 0] > 1)
        }
        let tables = ProviderCard.Tables(fitting: cards, width: width)
        let all = cards.map { card in
            Dictionary(uniqueKeysWithValues: UsageDensity.allCases.map { ($0, card.lines($0, tables, width: width)) })
        }
        let forms = UsageDensity.forms(
            of: zip(cards, all).map { card, forms in
                (heights: forms.mapValues(\.count), needsAttention: card.needsAttention)
            }, columns: columns, rows: rows)
        self.forms = forms
        lines = zip(all, forms).map { $0[$1] ?? [] }
    }
}
