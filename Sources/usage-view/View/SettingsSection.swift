import TerminalText
import UsageState

/// The choices of this device, each of which its command changes.
enum SettingsSection {
    static let commands: [Command] = [.measure, .clockTimes, .sort, .navigation, .sidebar, .tabPosition, .theme]

    /// - Parameters:
    ///   - columns: of the screen, for what has no effect there.
    ///   - hasTrueColor: whether the terminal has the colors of every theme.
    static func listing(_ settings: ViewSettings, columns: Int?, hasTrueColor: Bool, width: Int) -> Listing {
        Listing(
            items: commands.map { command in
                let (name, value, _) = text(command, settings)
                var line = StyledLine(name.padded(toCells: 14))
                line.append(value, .bold)
                line.append("  (\(command.keyText))", .dim)
                if command == .theme, settings.theme.supported(hasTrueColor: hasTrueColor) != settings.theme {
                    line.append("  needs COLORTERM=truecolor", .dim)
                } else if let columns, let reason = hindrance(command, settings, columns: columns) {
                    line.append("  " + reason, .dim)
                }
                return ListItem(command.rawValue, [line.truncated(toCells: width)])
            })
    }

    /// Why a choice changes nothing at present; nil if it does.
    private static func hindrance(_ command: Command, _ settings: ViewSettings, columns: Int) -> String? {
        switch command {
        case .tabPosition where Layout.hasSidebar(columns: columns, settings):
            "beside a sidebar"
        case .sidebar: settings.navigation != .auto ? "as the layout says" : nil
        default: nil
        }
    }

    static func detail(_ settings: ViewSettings, id: String, width: Int) -> [StyledLine] {
        guard let command = Command(rawValue: id) else { return [] }
        let (name, value, meaning) = text(command, settings)
        let texts = [
            "Now: " + value, meaning, "Enter changes it. Kept on this device for all windows, and not synced.",
        ]
        return [StyledLine(name, .bold)] + texts.flatMap { $0.wrapped(toCells: width) }.map { StyledLine($0) }
    }

    private static func text(
        _ command: Command, _ settings: ViewSettings
    ) -> (name: String, value: String, meaning: String) {
        switch command {
        case .measure:
            ("Percentages", settings.measure.rawValue, "What numbers and bars say: used or left.")
        case .clockTimes:
            (
                "Times", settings.isAbsolute ? "clock times" : "countdowns",
                "Clock times are in this machine's zone, with 12 or 24 hours as LC_TIME says."
            )
        case .sort:
            (
                "Order", settings.sortOrder.words,
                "The key changes it only in this window, here it changes for all."
            )
        case .navigation:
            (
                "Layout", settings.navigation.rawValue,
                "auto: tabs below 80 columns, else a sidebar, unless the next setting says otherwise."
            )
        case .sidebar:
            (
                "Sidebar", settings.sidebar.rawValue,
                "Where the layout is auto: from 80 columns on, always, or never. The key shows or hides it "
                    + "at any layout."
            )
        case .tabPosition:
            ("Tabs", settings.tabPosition.rawValue, "Where the tabs are, without a sidebar: bottom or top.")
        case .theme:
            (
                "Colors", settings.theme.rawValue,
                "terminal: red, yellow and green of your palette. dark and light: colors that can be read on such a "
                    + "background, where COLORTERM says truecolor; else as terminal. color-blind: magenta, yellow "
                    + "and cyan. none. Without colors the signs ! and !! say the same: less than 25 % left, "
                    + "less than 10 % left."
            )
        default: (command.title, "", "")
        }
    }
}

/// Every command with its keys, and what the words and signs mean.
enum HelpSection {
    static func listing(width: Int) -> Listing {
        let entries =
            Command.allCases.map { ($0.keyText, $0.title) } + [
                ("!", "less than 25 % is left"), ("!!", "less than 10 % is left"), ("~", "an estimate from local logs"),
                ("as of", "a cached reading, as old as shown"), ("stale", "older than an hour"),
                ("pace", "use compared with elapsed time"), ("active", "pushed within 5 minutes"),
                ("online", "connected to the daemon now"),
            ]
        return Listing(
            items: entries.map { term, meaning in
                ListItem(
                    term, [StyledLine(term.padded(toCells: 17), .bold).appending(meaning).truncated(toCells: width)])
            })
    }
}
