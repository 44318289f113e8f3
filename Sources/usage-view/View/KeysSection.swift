import Essentials
import TerminalText
import UsageState

/// The store as it is: every key with its value, and who set it when.
enum KeysSection {
    /// Longer values end in a line that says so.
    private static let lineLimit = 2_000

    static func listing(_ model: LiveModel, width: Int) -> Listing {
        let items = model.data.keys.map { key in
            var note = AmountFormatter.bytes(key.bytes.count)
            if key.changeCount > 0 { note += "  changed \(key.changeCount)×" }
            note += "  " + model.times.past(key.setAt)
            let name = VisibleText.escape(key.key)
            let room = max(12, width - CellWidth.of(note) - 2)
            var line = StyledLine(name.fitted(toCells: room))
            line.append("  " + note, key.changeCount > 0 ? .bold : .dim)
            return ListItem(
                key.key, [line.truncated(toCells: width)],
                moreText: ([name] + StoredValueForm.text.lines(of: key.bytes).prefix(lineLimit))
                    .joined(separator: " "))
        }
        let empty = ["The store is empty.", "  Anything that is set appears here: kvs set KEY VALUE"]
        return Listing(
            items: items,
            empty: empty.enumerated().flatMap { index, text in
                StyledLine(text, index == 0 ? .bold : .plain).wrapped(toCells: width)
            })
    }

    static func detail(_ model: LiveModel, id: String, form: StoredValueForm, width: Int) -> [StyledLine] {
        guard let key = model.data.keys.first(where: { $0.key == id }) else { return [] }
        var fields = [
            ("set", model.times.past(key.setAt)), ("stamp", key.stamp),
            ("writer", writer(of: key)),
            ("size", AmountFormatter.bytes(key.bytes.count)),
        ]
        if let changed = key.changedAt {
            fields.append(("changed", "\(key.changeCount)×, last \(model.times.past(changed))"))
        }
        fields.append(("as", form.title + " (v for the next form)"))
        let text = form.lines(of: key.bytes)
        var value = text.prefix(lineLimit).flatMap { line in
            line.isEmpty ? [StyledLine()] : StyledLine(line).folded(toCells: width)
        }
        if text.count > lineLimit { value.append(StyledLine("… \(text.count - lineLimit) more lines", .dim)) }
        return VisibleText.escape(id).wrapped(toCells: width).map { StyledLine($0, .bold) }
            + FieldLines.lines(fields, width: width) + [StyledLine()] + value
    }
}

extension KeysSection {
    private static func writer(of key: LiveData.StoredKey) -> String {
        let device = key.device.map { VisibleText.escape($0) } ?? (key.isOwn ? "this machine" : nil)
        return [device, key.writer].compactMap(\.self).joined(separator: " · ")
    }
}

extension StyledLine {
    /// Lines of at most `width` cells, broken anywhere, with every space kept.
    fileprivate func folded(toCells width: Int) -> [StyledLine] {
        guard cells > width else { return [self] }
        var lines = [""]
        var used = 0
        for character in plainText {
            let cells = CellWidth.of(character)
            if used + cells > width {
                lines.append("")
                used = 0
            }
            lines[lines.count - 1].append(character)
            used += cells
        }
        return lines.map { StyledLine($0) }
    }
}
