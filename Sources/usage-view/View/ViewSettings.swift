import TerminalText
import UsageState

/// The choices of one user on one device, for all windows; never synced.
struct ViewSettings: Sendable, Equatable {
    enum Navigation: String, Sendable, CaseIterable { case auto, tabs, sidebar }

    enum Theme: String, Sendable, CaseIterable {
        /// The terminal's own red, yellow and green.
        case terminal
        /// Magenta, yellow and cyan, which people tell apart who do not see red or green.
        case colorBlind = "color-blind"
        case none

        func style(_ style: TextStyle) -> TextStyle {
            var style = style
            switch (self, style.color) {
            case (.none, _): style.color = nil
            case (.colorBlind, .red): style.color = .magenta
            case (.colorBlind, .green): style.color = .cyan
            default: break
            }
            return style
        }
    }

    /// Beside an automatic layout: by width, or as the user has it.
    enum Sidebar: String, Sendable, CaseIterable { case auto, shown, hidden }

    enum TabPosition: String, Sendable, CaseIterable { case bottom, top }

    var measure = ViewOptions.Measure.used
    var isAbsolute = false
    var sortOrder = ViewOptions.SortOrder.name
    var navigation = Navigation.auto
    var sidebar = Sidebar.auto
    var tabPosition = TabPosition.bottom
    var theme = Theme.terminal
}

extension ViewSettings: Codable {
    private enum CodingKeys: String, CodingKey {
        case measure, isAbsolute, sortOrder, navigation, sidebar, tabPosition, theme
    }

    /// Lenient: a value that is not understood is the default.
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func choice<Choice: RawRepresentable<String>>(_ key: CodingKeys, _ value: inout Choice) {
            let text = try? fields.decode(String.self, forKey: key)
            value = text.flatMap(Choice.init) ?? value
        }
        choice(.measure, &measure)
        choice(.sortOrder, &sortOrder)
        choice(.navigation, &navigation)
        choice(.sidebar, &sidebar)
        choice(.tabPosition, &tabPosition)
        choice(.theme, &theme)
        isAbsolute = (try? fields.decode(Bool.self, forKey: .isAbsolute)) ?? false
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(measure.rawValue, forKey: .measure)
        try fields.encode(isAbsolute, forKey: .isAbsolute)
        try fields.encode(sortOrder.rawValue, forKey: .sortOrder)
        try fields.encode(navigation.rawValue, forKey: .navigation)
        try fields.encode(sidebar.rawValue, forKey: .sidebar)
        try fields.encode(tabPosition.rawValue, forKey: .tabPosition)
        try fields.encode(theme.rawValue, forKey: .theme)
    }
}

extension CaseIterable where Self: Equatable {
    /// The case after this one, and after the last the first.
    var following: Self {
        let all = Array(Self.allCases)
        let index = all.firstIndex(of: self) ?? 0
        return all[(index + 1) % all.count]
    }
}
