import UsageState

/// Where one window of the viewer is: kept for each window, restored when it opens again, never synced.
///
/// Only keys and clicks change it. Drawing for a size adapts what is shown, not the scene, which is why a resize and
/// back shows what was there before.
struct Scene: Sendable, Equatable {
    /// The position within a section.
    struct Position: Sendable, Equatable, Codable {
        /// The id of the selected item; the first one if nil or gone.
        var selection: String?
        /// The first shown lines of the list and of the detail.
        var firstLine = 0
        var firstDetailLine = 0
        /// Filters the list; empty to show everything.
        var query = ""
    }

    var section = Section.usage
    /// Whether the selected item's detail is open: beside the list it has the focus, else it covers the list.
    var isDetailOpen = false
    var positions: [String: Position] = [:]
    /// The window's own order of providers.
    var sortOrder: ViewOptions.SortOrder?

    /// Whether keys move and zoom a plot.
    var isPlotOpen: Bool { section == .history && isDetailOpen }

    /// That of the current section.
    var position: Position {
        get { positions[section.rawValue] ?? Position() }
        set { positions[section.rawValue] = newValue }
    }

    mutating func go(to section: Section, selecting id: String? = nil) {
        self.section = section
        isDetailOpen = false
        guard let id else { return }
        position = Position(selection: id)
    }
}

extension Scene: Codable {
    /// Lenient: what an other version has written counts as far as it is understood.
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        section = fields.setting(.section) ?? .usage
        isDetailOpen = fields.setting(.isDetailOpen) ?? false
        let stored = fields.setting(.positions, as: [String: Position].self) ?? [:]
        positions = stored.filter { Section(rawValue: $0.key) != nil }.mapValues { position in
            var position = position
            position.firstLine = min(max(0, position.firstLine), 1_000_000)
            position.firstDetailLine = min(max(0, position.firstDetailLine), 1_000_000)
            return position
        }
        sortOrder = fields.setting(.sortOrder)
    }
}
