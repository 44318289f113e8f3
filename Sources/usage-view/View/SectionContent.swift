import TerminalText
import UsageState

/// What is drawn of a section.
struct SectionContent {
    let section: Section
    let model: LiveModel
    let state: LiveState
    /// The width of the screen; nil where it does not matter.
    var columns: Int?
    /// Accounts side by side.
    var accountColumns = 1
    /// Lines of the list; nil for as many as it takes.
    var rows: Int?

    /// Whether entries have a detail.
    var hasDetail: Bool {
        switch section {
        case .usage: model.usage.situation == .ready
        case .history: !model.data.series.isEmpty
        case .spending: model.usage.hasSpending
        case .devices: !model.usage.devices.isEmpty
        case .keys: !model.data.keys.isEmpty
        case .settings: true
        case .help: false
        }
    }

    /// All entries.
    func listing(width: Int) -> Listing {
        switch section {
        case .usage: UsageSection.listing(model, width: width, columns: accountColumns, rows: rows)
        case .history: HistorySection.listing(model, width: width)
        case .spending: SpendingSection.listing(model, width: width)
        case .devices: DevicesSection.listing(model, width: width)
        case .keys: KeysSection.listing(model, width: width)
        case .settings:
            SettingsSection.listing(
                state.shownSettings, columns: columns, hasTrueColor: state.hasTrueColor, width: width)
        case .help: HelpSection.listing(width: width)
        }
    }

    /// Those that the query leaves.
    func filteredListing(width: Int) -> Listing {
        var listing = listing(width: width)
        let query = (state.scene.positions[section.rawValue] ?? Scene.Position()).query
        guard !query.isEmpty, !listing.items.isEmpty else { return listing }
        listing.items = listing.items.filter { $0.matches(query) }
        listing.footer = []
        listing.empty = ["Nothing here contains '\(VisibleText.escape(query))'.", "esc shows all."]
            .flatMap { StyledLine($0).wrapped(toCells: width) }
        return listing
    }

    /// - Parameters:
    ///   - rows: what is seen at once.
    ///   - isBesideList: whether the list shows the entry too.
    func detail(id: String, width: Int, rows: Int, isBesideList: Bool) -> [StyledLine] {
        switch section {
        case .usage:
            UsageSection.detail(model, id: id, width: width, rows: rows, isBesideList: isBesideList)
        case .history: HistorySection.detail(model, id: id, view: state.plot, width: width, rows: rows)
        case .spending: SpendingSection.detail(model, id: id, width: width)
        case .devices: DevicesSection.detail(model, id: id, width: width)
        case .keys:
            KeysSection.detail(model, id: id, form: state.valueForm, width: width)
        case .settings: SettingsSection.detail(state.shownSettings, id: id, width: width)
        case .help: []
        }
    }
}

/// A part of the live viewer, in the order of the tabs.
enum Section: String, Sendable, CaseIterable, Codable {
    case usage, history, spending, devices, keys, settings, help

    var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

    /// For a tab strip without room for the title.
    var shortTitle: String {
        switch self {
        case .usage: "Use"
        case .history: "Hist"
        case .spending: "Cost"
        case .devices: "Dev"
        case .keys: "Keys"
        case .settings: "Set"
        case .help: "Help"
        }
    }

    /// The key that leads to it: "1" and so on.
    var digit: Int { (Self.allCases.firstIndex(of: self) ?? 0) + 1 }

    func next(_ step: Int) -> Section {
        let count = Self.allCases.count
        return Self.allCases[((digit - 1 + step) % count + count) % count]
    }
}
