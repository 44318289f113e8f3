import Commands

/// What a user can do. Each has a key, and is in the command list.
enum Command: String, Sendable, CaseIterable {
    case usage, history, spending, devices, keys, settings, help
    case nextSection, previousSection
    case up, down, pageUp, pageDown, first, last
    case open, back
    case search, searchAll, commandList, viewHelp, account
    case measure, clockTimes, sort
    case valueForm
    case earlier, later, zoomIn, zoomOut
    case sidebar, navigation, tabPosition, theme
    case quit

    /// A verb phrase.
    var title: String { words.title }

    /// The keys as shown, the most usual first.
    var keyText: String { words.keys }

    private var words: (title: String, keys: String) {
        switch self {
        case .usage, .history, .spending, .devices, .keys, .settings, .help:
            ("go to \(Section(rawValue: rawValue)?.title ?? "")", "\(Section(rawValue: rawValue)?.digit ?? 0)")
        case .nextSection: ("go to the next section", "tab")
        case .previousSection: ("go to the previous section", "shift-tab")
        case .up: ("select or scroll up", "↑ k")
        case .down: ("select or scroll down", "↓ j")
        case .pageUp: ("one page up", "page up, ctrl-b")
        case .pageDown: ("one page down", "page down, space")
        case .first: ("to the first", "home g")
        case .last: ("to the last", "end G")
        case .open: ("open the selected entry, change a setting", "enter → l")
        case .back: ("close, clear the search, back to the list", "esc ← h")
        case .search: ("search this section", "/")
        case .searchAll: ("search all sections", "//")
        case .commandList: ("list all commands", ": ctrl-p")
        case .viewHelp: ("help for this view", "?")
        case .account: ("show the account", "m")
        case .measure: ("switch between used and left", "u")
        case .clockTimes: ("switch between countdowns and clock times", "a")
        case .sort: ("sort by name or by what ends first, in this window", "s")
        case .valueForm: ("show a value as JSON, text, hex or property list", "v")
        case .earlier: ("in a plot: show the value before", "←")
        case .later: ("in a plot: show the value after", "→")
        case .zoomIn: ("in the history: zoom in", "+")
        case .zoomOut: ("in the history: zoom out", "-")
        case .sidebar: ("show or hide the sidebar", "\\")
        case .navigation: ("change the layout: auto, tabs, sidebar", "L")
        case .tabPosition: ("move the tabs to the top or the bottom", "T")
        case .theme: ("change the colors", "C")
        case .quit: ("quit", "q")
        }
    }

    /// The command of a key outside of text input.
    ///
    /// - Parameter isPlotOpen: whether arrows move in a plot.
    init?(_ key: Key, isPlotOpen: Bool = false) {
        switch key {
        case .left where isPlotOpen: self = .earlier
        case .right where isPlotOpen: self = .later
        case .up, .character("k"): self = .up
        case .down, .character("j"): self = .down
        case .left, .character("h"), .escape, .backspace: self = .back
        case .right, .character("l"), .enter: self = .open
        case .tab: self = .nextSection
        case .backTab: self = .previousSection
        case .pageUp, .control("b"), .control("u"): self = .pageUp
        case .pageDown, .control("f"), .character(" "): self = .pageDown
        case .home, .character("g"): self = .first
        case .end, .character("G"): self = .last
        case .character("/"): self = .search
        case .character(":"), .control("p"): self = .commandList
        case .interrupt, .character("q"), .character("Q"): self = .quit
        case .character(let character):
            let text = String(character)
            guard let command = Self.allCases.first(where: { $0.keyText == text }) else { return nil }
            self = command
        default: return nil
        }
    }

    /// Those whose title or key contains every word of the text.
    static func matching(_ text: String) -> [Command] {
        let words = text.lowercased().split(separator: " ")
        return allCases.filter { command in
            words.allSatisfy { (command.title + " " + command.keyText).lowercased().contains($0) }
        }
    }

    /// The most useful ones in a section, for its help.
    static func usual(in section: Section) -> [Command] {
        let moving: [Command] = [.up, .down, .open, .back, .search, .searchAll]
        let own: [Command] =
            switch section {
            case .usage: [.measure, .clockTimes, .sort]
            case .history: [.measure, .clockTimes, .earlier, .later, .zoomIn, .zoomOut]
            case .devices: [.clockTimes]
            case .spending: []
            case .keys: [.valueForm]
            case .settings, .help: []
            }
        return own + moving + [.nextSection, .account, .sidebar, .commandList, .viewHelp, .quit]
    }
}
