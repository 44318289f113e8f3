package import Foundation

/// Which requests a report is about.
package struct ReportQuery: Sendable {
    /// Whose days these are.
    package var zone: TimeZone
    /// Both inclusive.
    package var since: CalendarDay?
    package var until: CalendarDay?
    /// Provider ids; none for all.
    package var providers: Set<String> = []
    /// Exactly this one; `unknownProject` for requests of which none is known.
    package var project: String?
    package var isDescending = false

    /// How the tools call what has no project.
    package static let unknownProject = "unknown"

    package init(zone: TimeZone) { self.zone = zone }

    func includes(_ day: CalendarDay) -> Bool {
        day >= since ?? day && day <= until ?? day
    }

    /// By session's number its provider; nil for one that the report is not about.
    func providers(of sessions: [TokenSession]) -> [String?] {
        let byLog = UsageSources.providersByLog
        return sessions.map { session in
            let provider = byLog[session.source] ?? session.source
            guard providers.isEmpty || providers.contains(provider) else { return nil }
            guard project == nil || project == session.project ?? Self.unknownProject else {
                return nil
            }
            return provider
        }
    }
}
