import TerminalText
import UsageState

/// The choices of one user on one device, for all windows; never synced.
struct ViewSettings: Sendable, Equatable {
    enum Navigation: String, Sendable, CaseIterable, Codable { case auto, tabs, sidebar }

    enum Theme: String, Sendable, CaseIterable, Codable {
        /// The terminal's own red, yellow, cyan and green.
        case terminal
        /// Colors for a dark and for a light background, which need 24 bits.
        case dark, light
        /// Magenta, yellow and cyan, which people tell apart who do not see red or green.
        case colorBlind = "color-blind"
        case none

        var palette: Palette? {
            switch self {
            case .dark: .dark
            case .light: .light
            case .terminal, .colorBlind, .none: nil
            }
        }

        /// What there is of it in a terminal.
        func supported(hasTrueColor: Bool) -> Theme { hasTrueColor || palette == nil ? self : .terminal }

        func style(_ style: TextStyle) -> TextStyle {
            var style = style
            if let palette {
                style.rgb = style.color.map { palette[$0] } ?? (style.isDim ? palette.dim : nil)
            }
            switch (self, style.color) {
            case (.none, _): style.color = nil
            case (.colorBlind, .red): style.color = .magenta
            case (.colorBlind, .green): style.color = .cyan
            case (.colorBlind, .cyan): style.color = nil
            default: break
            }
            // Terminals mix what is faint with the background, by half and more, which leaves too little contrast for
            // text on a light one; the text that they show otherwise can be read.
            style.isDim = false
            return style
        }
    }

    /// Beside an automatic layout: by width, or as the user has it.
    enum Sidebar: String, Sendable, CaseIterable, Codable { case auto, shown, hidden }

    enum TabPosition: String, Sendable, CaseIterable, Codable { case bottom, top }

    var measure = ViewOptions.Measure.used
    var isAbsolute = false
    var sortOrder = ViewOptions.SortOrder.tightest
    var navigation = Navigation.auto
    var sidebar = Sidebar.auto
    var tabPosition = TabPosition.bottom
    var theme = Theme.terminal
}

extension ViewSettings: Codable {
    /// Lenient: a value that is not understood is the default.
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        measure = fields.setting(.measure) ?? measure
        isAbsolute = fields.setting(.isAbsolute) ?? isAbsolute
        sortOrder = fields.setting(.sortOrder) ?? sortOrder
        navigation = fields.setting(.navigation) ?? navigation
        sidebar = fields.setting(.sidebar) ?? sidebar
        tabPosition = fields.setting(.tabPosition) ?? tabPosition
        theme = fields.setting(.theme) ?? theme
    }
}

extension ViewOptions.SortOrder {
    var words: String { self == .name ? "by name" : "what ends first" }
}

extension CaseIterable where Self: Equatable {
    /// The case after this one, and after the last the first.
    var following: Self {
        let all = Array(Self.allCases)
        let index = all.firstIndex(of: self) ?? 0
        return all[(index + 1) % all.count]
    }
}
