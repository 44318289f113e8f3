import Essentials
import TerminalText
import UsageState

/// What a `custom` module of Waybar reads with `"return-type": "json"`. Text and tooltip are Pango markup.
struct WaybarBlock: Encodable {
    let text: String
    /// The level of the window that ends first, for `format-icons`.
    let alt: String
    let tooltip: String
    /// Names in the style sheet: the level, and what qualifies it.
    let `class`: [String]
    let percentage: Int

    init(_ text: StatusText, model: ViewModel) {
        let shown = UsageItem.mostUrgent(of: text.line.items, at: model.now)
        self.text = XMLText.escape(text.styled.plainText)
        alt = shown?.levelName ?? "empty"
        var classes = [alt]
        if shown?.urgency == .runsOut { classes.append("runs-out") }
        if shown?.condition == .cached { classes.append("cached") }
        if shown?.isEstimate == true { classes.append("estimate") }
        if text.line.isRemoved { classes.append("removed") }
        self.class = classes
        let percent = text.measure == .used ? shown?.usedPercent ?? 0 : shown?.remainingPercent ?? 0
        percentage = Int(min(max(percent, 0), 100).rounded())
        tooltip = XMLText.escape(Self.tooltip(text, model: model).joined(separator: "\n"))
    }

    /// A line per window with the age of the number, or why there is none.
    private static func tooltip(_ text: StatusText, model: ViewModel) -> [String] {
        guard !text.line.details.isEmpty else {
            return model.situation == .ready
                ? ["No window matches."]
                : EmptyState.lines(for: model, width: 80).map(\.plainText)
        }
        let note = text.line.isRemoved ? UsageNote.link(model.data.link) : nil
        let windows = text.line.details.map { item in
            let fields = text.fields(item)
            let account = fields.account.isEmpty ? "" : " · " + fields.account
            let age = fields.warning == nil ? " · " + fields.age : ""
            return text.styled(item).plainText + account + age
        }
        return windows + [note.map { model.text($0.text) }].compactMap { $0 }
    }
}
