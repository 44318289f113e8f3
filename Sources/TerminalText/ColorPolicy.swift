/// Whether output may be coloured.
package enum ColorPolicy {
    /// What the person asked for on the command line.
    package enum Choice: String, Sendable, CaseIterable {
        case auto, always, never
    }

    /// An explicit choice wins. Else: never with NO_COLOR (set and not empty) or TERM=dumb; always
    /// with CLICOLOR_FORCE (set and not 0); otherwise when the output is a terminal.
    package static func isColored(
        choice: Choice = .auto, environment: [String: String], isTerminal: Bool
    ) -> Bool {
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

    /// Whether the locale can show more than ASCII: LC_ALL, else LC_CTYPE, else LANG names UTF-8.
    /// With none of them set it can, as every current terminal does.
    package static func isUnicode(environment: [String: String]) -> Bool {
        let name = ["LC_ALL", "LC_CTYPE", "LANG"].lazy
            .compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let name else { return true }
        let folded = name.lowercased()
        return folded.contains("utf-8") || folded.contains("utf8")
    }
}
