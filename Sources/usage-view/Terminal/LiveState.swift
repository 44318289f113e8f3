import Commands
import UsageState

/// The state of one window of the live viewer. Pure: a key or a click in, an outcome out.
struct LiveState: Sendable, Equatable {
    enum Outcome: Sendable {
        case nothing, redraw, quit
    }

    var scene = Scene()
    /// What all windows share.
    var settings = ViewSettings()
    /// What the command line says in place of the settings, in this window until a key changes it.
    var measure: ViewOptions.Measure?
    var isAbsolute: Bool?
    /// What covers the view; nil if nothing does.
    private(set) var dialog: Dialog?
    /// Whether keys are typed into the query.
    private(set) var isSearching = false
    private(set) var valueForm = StoredValueForm.json
    /// What the plot of the history shows.
    private(set) var plot = PlotView()
    /// False if the locale supports only ASCII.
    var isUnicode = true
    var isTwelveHour = false
    /// What the command line asks for.
    var selection = UsageSelection()
    /// Whether the terminal has the colors of every theme.
    var hasTrueColor = true

    private static let longestText = 200

    var options: ViewOptions {
        ViewOptions(
            measure: shownSettings.measure, isAbsolute: shownSettings.isAbsolute,
            sortOrder: scene.sortOrder ?? settings.sortOrder, isUnicode: isUnicode,
            isTwelveHour: isTwelveHour, selection: selection)
    }

    var shownSettings: ViewSettings {
        var shown = settings
        shown.measure = measure ?? shown.measure
        shown.isAbsolute = isAbsolute ?? shown.isAbsolute
        return shown
    }

    /// - Parameter draw: what is on the screen in a state, for what depends on it, such as the entry below the selected
    ///   one.
    mutating func handle(_ key: Key, draw: (LiveState) -> Drawing) -> Outcome {
        if key == .interrupt { return .quit }
        if case .mouse(let event) = key { return handle(event, draw: draw) }
        let before = self
        if dialog != nil {
            if handleInDialog(key, draw: draw) == .quit { return .quit }
        } else if isSearching {
            handleInSearch(key, draw: draw)
        } else if let command = Command(key, isPlotOpen: scene.isPlotOpen), perform(command, draw: draw) == .quit {
            return .quit
        }
        return self == before ? .nothing : .redraw
    }

    private mutating func handle(_ event: MouseEvent, draw: (LiveState) -> Drawing) -> Outcome {
        switch event.action {
        case .wheelUp: return handle(.up, draw: draw)
        case .wheelDown: return handle(.down, draw: draw)
        case .press: break
        }
        let before = self
        let action = draw(self).action(column: event.column, row: event.row)
        if let action, perform(action, draw: draw) == .quit { return .quit }
        return self == before ? .nothing : .redraw
    }

    // MARK: - Commands

    @discardableResult
    private mutating func perform(_ action: Action, draw: (LiveState) -> Drawing) -> Outcome {
        switch action {
        case .command(let command):
            dialog = nil
            return perform(command, draw: draw)
        case .show(let section, let id):
            dialog = nil
            scene.go(to: section, selecting: id)
            scene.isDetailOpen = true
        case .select(let id):
            guard scene.position.selection == id else {
                scene.position.selection = id
                scene.isDetailOpen = false
                break
            }
            return perform(.open, draw: draw)
        case .close: dialog = nil
        }
        return .redraw
    }

    @discardableResult
    private mutating func perform(_ command: Command, draw: (LiveState) -> Drawing) -> Outcome {
        switch command {
        case .quit: return .quit
        case .usage, .history, .spending, .devices, .keys, .settings, .help:
            Section(rawValue: command.rawValue).map { scene.go(to: $0) }
        case .nextSection: scene.go(to: scene.section.next(1))
        case .previousSection: scene.go(to: scene.section.next(-1))
        case .up: move(by: -1, draw(self))
        case .down: move(by: 1, draw(self))
        case .pageUp: move(by: -draw(self).page, draw(self))
        case .pageDown: move(by: draw(self).page, draw(self))
        case .first: move(by: -1_000_000, draw(self))
        case .last: move(by: 1_000_000, draw(self))
        case .open: open(draw(self))
        case .back:
            if !scene.isDetailOpen { scene.position.query = "" }
            if scene.isPlotOpen { plot = PlotView() }
            scene.isDetailOpen = false
        case .search:
            scene.isDetailOpen = false
            isSearching = true
        case .searchAll: dialog = Dialog(kind: .searchAll)
        case .commandList: dialog = Dialog(kind: .commands)
        case .viewHelp: dialog = Dialog(kind: .help)
        case .account: dialog = Dialog(kind: .account)
        case .sort:
            scene.sortOrder = (scene.sortOrder ?? settings.sortOrder).following
        case .valueForm: valueForm = valueForm.following
        case .earlier where scene.isPlotOpen: plot.move(by: -1)
        case .later where scene.isPlotOpen: plot.move(by: 1)
        case .zoomIn where scene.section == .history: plot.zoom(by: 1)
        case .zoomOut where scene.section == .history: plot.zoom(by: -1)
        case .earlier, .later, .zoomIn, .zoomOut: break
        case .sidebar:
            // What is seen changes, whatever the layout has been.
            let isShown = Layout.hasSidebar(columns: draw(self).columns, settings)
            settings.navigation = .auto
            settings.sidebar = isShown ? .hidden : .shown
        case .measure, .clockTimes, .navigation, .tabPosition, .theme: change(command)
        }
        return .redraw
    }

    /// Changes a setting.
    private mutating func change(_ command: Command) {
        switch command {
        case .measure:
            settings.measure = shownSettings.measure.following
            measure = nil
        case .clockTimes:
            settings.isAbsolute = !shownSettings.isAbsolute
            isAbsolute = nil
        case .sort:
            settings.sortOrder = settings.sortOrder.following
            scene.sortOrder = nil
        case .navigation: settings.navigation = settings.navigation.following
        case .sidebar: settings.sidebar = settings.sidebar.following
        case .tabPosition: settings.tabPosition = settings.tabPosition.following
        case .theme: settings.theme = settings.theme.following
        default: break
        }
    }

    private mutating func open(_ drawing: Drawing) {
        guard let selected = drawing.selected else { return }
        scene.position.selection = drawing.ids[selected]
        if scene.section == .settings {
            Command(rawValue: drawing.ids[selected]).map { change($0) }
        } else if scene.section != .help {
            scene.isDetailOpen = true
        }
    }

    private mutating func move(by step: Int, _ drawing: Drawing) {
        if scene.isDetailOpen, let detail = drawing.detail {
            scene.position.firstDetailLine = min(max(0, detail.first + step), detail.limit)
            return
        }
        let list = drawing.list
        guard let selected = drawing.selected else {
            scene.position.firstLine = min(max(0, list.first + step), list.limit)
            return
        }
        // An entry that is higher than the window is scrolled through first.
        let rows = drawing.rows[selected]
        let first = list.first + step.signum()
        if abs(step) == 1, rows.count > list.rows, first >= rows.lowerBound, first + list.rows <= rows.upperBound {
            scene.position.firstLine = first
            return
        }
        var target = min(max(0, selected + step.signum()), drawing.ids.count - 1)
        // A page is lines, not entries.
        while abs(step) > 1, drawing.ids.indices.contains(target + step.signum()),
            abs(drawing.rows[target].lowerBound - rows.lowerBound) < abs(step)
        {
            target += step.signum()
        }
        scene.position.firstLine = list.first
        if scene.position.selection != drawing.ids[target] {
            scene.position.firstDetailLine = 0
        }
        scene.position.selection = drawing.ids[target]
    }

    // MARK: - Text

    private mutating func handleInSearch(_ key: Key, draw: (LiveState) -> Drawing) {
        switch key {
        case .character("/") where scene.position.query.isEmpty:
            isSearching = false
            dialog = Dialog(kind: .searchAll)
        case .enter: isSearching = false
        case .escape:
            isSearching = false
            scene.position.query = ""
        case .up: move(by: -1, draw(self))
        case .down: move(by: 1, draw(self))
        default:
            Self.edit(&scene.position.query, key)
        }
    }

    private mutating func handleInDialog(_ key: Key, draw: (LiveState) -> Drawing) -> Outcome {
        guard var dialog else { return .nothing }
        let entries = draw(self).entries
        switch key {
        case .escape: self.dialog = nil
        case .enter:
            guard entries.indices.contains(dialog.selected) else {
                self.dialog = nil
                return .redraw
            }
            return perform(entries[dialog.selected].action, draw: draw)
        case .up, .down, .tab, .backTab:
            let step = key == .up || key == .backTab ? -1 : 1
            dialog.selected = min(max(0, dialog.selected + step), max(0, entries.count - 1))
            self.dialog = dialog
        case .character(let character) where !dialog.hasInput:
            switch character {
            case "j", "k": return handleInDialog(character == "j" ? .down : .up, draw: draw)
            case "q", "Q": return .quit
            default: self.dialog = nil
            }
        default:
            if dialog.hasInput, Self.edit(&dialog.text, key) {
                dialog.selected = 0
                self.dialog = dialog
            }
        }
        return .redraw
    }

    @discardableResult
    private static func edit(_ text: inout String, _ key: Key) -> Bool {
        switch key {
        case .character(let character) where text.count < longestText: text.append(character)
        case .paste(let pasted): text += pasted.prefix(longestText - text.count)
        case .backspace: _ = text.popLast()
        case .control("u"): text = ""
        default: return false
        }
        return true
    }
}
