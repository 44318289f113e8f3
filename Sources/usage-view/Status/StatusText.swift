import TerminalText
import UsageState

/// The text of a status line, for every format that has no structure of its own.
struct StatusText {
    let line: UsageLine
    let measure: ViewOptions.Measure
    let times: TimeFormatter
    /// In cells; nil for as wide as it gets.
    var maxWidth: Int?
    var template: StatusTemplate?

    static let nothing = "–"
    /// With what to do about it.
    static let removed = "removed: ubq join"
    static let separator = " | "

    /// Without countdowns if it does not fit with them, then cut.
    var styled: StyledLine {
        guard !line.items.isEmpty else {
            return fitted(line.isRemoved ? StyledLine(Self.removed, .colored(.red)) : StyledLine(Self.nothing))
        }
        let long = joined(isShort: false)
        guard let maxWidth, long.cells > maxWidth, template == nil else { return fitted(long) }
        return fitted(joined(isShort: true))
    }

    private func fitted(_ line: StyledLine) -> StyledLine { maxWidth.map { line.truncated(toCells: $0) } ?? line }

    private func joined(isShort: Bool) -> StyledLine {
        var result = StyledLine()
        // In front, where a narrow bar does not cut it.
        if line.isRemoved { result.append(Self.removed, .colored(.red)) }
        for (index, item) in line.items.enumerated() {
            if index > 0 || line.isRemoved { result.append(template == nil ? Self.separator : " ") }
            result.append(styled(item, isShort: isShort))
        }
        return result
    }

    func fields(_ item: UsageItem) -> UsageFields { UsageFields(item, measure: measure, times: times) }

    /// "Codex 5h 42 % used · 1h 30m", "! Codex 7d 62 % used · ▲ out 16:10 · 5d", "Codex 5h ~42 % used (3 h ago)",
    /// "Codex 5h reset 10 min ago".
    func styled(_ item: UsageItem, isShort: Bool = false) -> StyledLine {
        let fields = fields(item)
        let style = item.urgency?.style ?? .plain
        if let template { return StyledLine(template.text(fields), style) }
        let name = [fields.sign, fields.provider, fields.window].filter { !$0.isEmpty }
        var result = StyledLine(name.joined(separator: " ") + " ")
        guard fields.absence == nil else { return result.appending(fields.absence ?? "") }
        result.append(fields.percent + " " + fields.measure, style)
        guard !isShort else { return result }
        if let warning = fields.warning { result.append(" (\(warning))") }
        for part in [fields.out, times.isAbsolute ? fields.clock : fields.reset] where !part.isEmpty {
            result.append(" · " + part)
        }
        return result
    }
}
