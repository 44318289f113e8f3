import Essentials
import TerminalText
import UsageState

/// The devices that push, and those of the account that do not.
enum DevicesSection {
    static func cards(_ model: LiveModel) -> [DeviceCard] { DeviceCard.list(model.usage.devices, model.data.server) }

    /// One line per device that pushes, for the foot of the overview.
    static func summary(_ model: LiveModel, width: Int) -> [StyledLine] {
        guard case .known = model.data.server else { return DeviceLines.lines(for: model.usage, width: width) }
        return cards(model).filter { $0.pushed != nil }.map { line($0, model, width: width) }
    }

    static func listing(_ model: LiveModel, width: Int) -> Listing {
        Listing(
            items: cards(model).map { ListItem($0.id, [line($0, model, width: width)]) },
            empty: EmptyState.lines(for: model.usage, width: min(width, 90)))
    }

    private static func line(_ card: DeviceCard, _ model: LiveModel, width: Int) -> StyledLine {
        let presence = card.presence.value(at: model.usage.now)
        let nameCells = min(24, max(8, width / 3))
        var line = StyledLine(card.name.fitted(toCells: nameCells) + "  ")
        line.append(presence.word, presence.tone.style)
        let note = "  " + model.usage.text(card.remark(on: presence))
        if line.cells + CellWidth.of(note) <= width { line.append(note, .dim) }
        return line.truncated(toCells: width)
    }

    static func detail(_ model: LiveModel, id: String, width: Int) -> [StyledLine] {
        guard let card = cards(model).first(where: { $0.id == id }) else { return [] }
        let presence = card.presence.value(at: model.usage.now)
        var fields = [("presence", presence.word), ("why", presence.reason)]
        if let seen = card.known?.lastSeen, presence == .offline {
            fields.append(("last seen", model.times.past(seen)))
        }
        if let pushed = card.pushed {
            fields.append(("last push", model.times.past(pushed.lastPush)))
            if let version = pushed.appVersion { fields.append(("version", VisibleText.escape(version))) }
            if let id = pushed.id { fields.append(("id", VisibleText.escape(id))) }
            let providers = model.usage.providers.filter { $0.deviceNames.contains(pushed.name) }
            fields.append(("reports", providers.map(\.title).joined(separator: ", ")))
        }
        if card.known?.isPage == true { fields.append(("kind", "a web page")) }
        if let next = presence.nextStep { fields.append(("next", next)) }
        return [StyledLine(card.name.truncated(toCells: width), .bold)] + FieldLines.lines(fields, width: width)
    }
}

/// Names and wrapped values, aligned.
enum FieldLines {
    static func lines(_ fields: [(String, String)], width: Int) -> [StyledLine] {
        let column = 2 + (fields.map { CellWidth.of($0.0) }.max() ?? 0) + 2
        return fields.flatMap { name, value in
            StyledLine("  " + name, .dim).continued(
                by: value.wrapped(toCells: max(8, width - column)), atColumn: column, .plain)
        }
    }
}
