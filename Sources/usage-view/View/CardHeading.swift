import SnapshotModels
import TerminalText

/// The first line of a card: name, account, plan; at the right how old the numbers are.
struct CardHeading {
    private let name: String
    private let account: String
    private let plan: String
    private let age: String
    private let ageStyle: TextStyle

    init(provider: ProviderState, model: ViewModel) {
        let snapshot = provider.snapshot
        name = VisibleText.escape(snapshot.providerName)
        account = VisibleText.escape(snapshot.accountEmail ?? "")
        plan = VisibleText.escape(snapshot.loginMethod ?? "")
        (age, ageStyle) = AgeText.observed(provider, model: model)
    }

    /// Exactly `width` cells. The account gives way first, then the plan, then the name.
    func line(width: Int) -> StyledLine {
        let room = max(0, width - CellWidth.of(age) - 2)
        let shownName = name.truncated(toCells: room)
        var detailRoom = room - CellWidth.of(shownName) - 2
        var details: [String] = []
        if !plan.isEmpty, detailRoom >= 4 {
            let shown = plan.truncated(toCells: detailRoom)
            details.append(shown)
            detailRoom -= CellWidth.of(shown) + 3
        }
        if !account.isEmpty, detailRoom >= 6 {
            details.insert(account.truncated(toCells: detailRoom), at: 0)
        }
        var line = StyledLine(shownName, .bold)
        if !details.isEmpty { line.append("  " + details.joined(separator: " · ")) }
        line.pad(toCells: width - CellWidth.of(age))
        line.append(age, ageStyle)
        return line
    }
}
