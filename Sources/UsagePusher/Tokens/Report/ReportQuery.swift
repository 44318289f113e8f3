package import ClockZones

/// Which requests a report is about.
package struct ReportQuery: Sendable {
    /// Whose days these are.
    package var zone: ClockZone
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

    package init(zone: ClockZone) { self.zone = zone }

    func includes(_ day: CalendarDay) -> Bool {
        day >= since ?? day && day <= until ?? day
    }

    /// The providers of sessions.
    struct Providers {
        private(set) var names: [String] = []
        /// By session's number an index of `names`; nil for a session that the report is not about.
        private(set) var indices: [Int?] = []

        init(_ sessions: [TokenSession], _ query: ReportQuery) {
            indices.reserveCapacity(sessions.count)
            for session in sessions {
                let name = session.source
                let isIncluded =
                    (query.providers.isEmpty || query.providers.contains(name))
                    && (query.project ?? session.project ?? ReportQuery.unknownProject)
                        == (session.project ?? ReportQuery.unknownProject)
                guard isIncluded else {
                    indices.append(nil)
                    continue
                }
                if let index = names.firstIndex(of: name) {
                    indices.append(index)
                } else {
                    names.append(name)
                    indices.append(names.count - 1)
                }
            }
        }
    }
}
