/// What the environment allows output to contain.
package enum ColorPolicy {
    /// The choice on the command line.
    package enum Choice: String, Sendable, CaseIterable {
        case auto, always, never
    }

    /// Whether output may be colored. An explicit choice wins. Otherwise never with a nonempty NO_COLOR or
    /// TERM=dumb, always with CLICOLOR_FORCE other than 0, and else if the output is a terminal.
    package static func isColored(choice: Choice = .auto, environment: [String: String], isTerminal: Bool) -> Bool {
        switch choice {
        case .always: return true
        case .never: return false
        case .auto: break
        }
        if let noColor = environment["NO_COLOR"], !noColor.isEmpty { return false }
        if environment["TERM"] == "dumb" { return false }
        if let force = environment["CLICOLOR_FORCE"], !force.isEmpty, force != "0" { return true }
        return isTerminal
    }

    /// Whether the terminal says that it has colors of 24 bits.
    package static func hasTrueColor(environment: [String: String]) -> Bool {
        ["truecolor", "24bit"].contains(environment["COLORTERM"])
    }

    /// Whether the first nonempty one of LC_ALL, LC_CTYPE and LANG names UTF-8; true if all are empty.
    package static func isUnicode(environment: [String: String]) -> Bool {
        let name = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let name else { return true }
        // A regular expression would take a thirtieth of the time of a status line.
        let folded = name.lowercased()
        return folded.contains("utf-8") || folded.contains("utf8")
    }

    /// Territories whose clocks count to twelve (Unicode CLDR, preferred hour cycle "h").
    private static let twelveHourTerritories: Set<Substring> = [
        "AE", "AU", "BD", "CA", "CO", "EG", "HK", "IN", "JO", "KR", "KW", "LB", "MY", "NZ", "OM",
        "PH", "PK", "PR", "QA", "SA", "SG", "SY", "TW", "US", "VE", "YE",
    ]

    /// Whether the first nonempty one of LC_ALL, LC_TIME and LANG names a territory whose clocks count to twelve:
    /// "en_US.UTF-8", but not "fr_CA.UTF-8".
    package static func isTwelveHour(environment: [String: String]) -> Bool {
        let name =
            ["LC_ALL", "LC_TIME", "LANG"].lazy
            .compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        guard let locale = name.prefixMatch(of: /(?<language>[a-z]+)_(?<territory>[A-Z]{2})/) else { return false }
        return locale.language != "fr" && twelveHourTerritories.contains(locale.territory)
    }
}
