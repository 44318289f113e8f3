import TerminalText
import UsageState

extension EmptyState {
    /// Nothing where there is something to show.
    static func lines(for model: ViewModel, width: Int) -> [StyledLine] {
        guard let state = EmptyState(model) else { return [] }
        return model.text(state.title).wrapped(toCells: width).map { StyledLine($0, .bold) }
            + state.steps.flatMap { model.text($0).wrapped(toCells: width - 2).map { StyledLine("  " + $0) } }
    }
}
