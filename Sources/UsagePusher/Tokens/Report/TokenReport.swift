/// The tokens of days, weeks, months or sessions.
///
/// Days are exact in every zone: no zone's day begins inside of a quarter of an hour, and a bucket is at most that.
package struct TokenReport: Sendable {
    package enum Grouping: Sendable, Hashable {
        case day
        case week(start: Weekday)
        case month
        /// All parts of a session in one row, those of subagents too.
        case session
    }

    package struct Row: Sendable {
        /// "2026-09-18", the first day of the week, "2026-09", the session's id.
        package var period: String
        /// Sorted.
        package var providers: [String]
        /// Where the session was last at work; of a report by projects, or about one, the project.
        package var project: String?
        /// Milliseconds since 1970 of the first and the last request.
        package var first: Int64
        package var last: Int64
        /// In the order of first use.
        package var models: [ModelUsage]
        package var total: UsageAmount
    }

    package private(set) var rows: [Row] = []
    package private(set) var total = UsageAmount()

    /// - Parameter byProject: whether each project has rows of its own. Not for sessions.
    package init(_ usage: TokenUsage, by grouping: Grouping, byProject: Bool = false, query: ReportQuery) {
        let providers = ReportQuery.Providers(usage.sessions, query)
        var clock = ReportClock(zone: query.zone)
        var sums = Self.sums(usage, Groups(usage, grouping, byProject: byProject), providers, &clock, query)
        if grouping == .session {
            sums.removeAll {
                $0.models.isEmpty || !query.includes(clock.day(of: $0.last))
            }
        }
        let order = Self.order(sums, grouping, usage.sessions, byProject: byProject, query)
        rows = order.map {
            sums[$0].row(grouping, usage, providers.names, isOfProject: byProject || query.project != nil)
        }
        total = rows.reduce(into: UsageAmount()) { $0 += $1.total }
    }

    private static func sums(
        _ usage: TokenUsage, _ groups: Groups, _ providers: ReportQuery.Providers,
        _ clock: inout ReportClock, _ query: ReportQuery
    ) -> [Sum] {
        var indices: [Key: Int] = [:]
        var sums: [Sum] = []
        var last: (key: Key, index: Int)?
        for bucket in usage.buckets {
            let session = Int(bucket.key.session)
            guard let provider = providers.indices[session] else { continue }
            let day = clock.day(of: bucket.first)
            // A session counts by its last day, which is known at the end.
            guard groups.grouping == .session || query.includes(day) else { continue }
            let key = groups.key(day, session)
            let index: Int
            if let last, last.key == key {
                index = last.index
            } else {
                index = indices[key] ?? sums.count
                if index == sums.count {
                    indices[key] = index
                    sums.append(Sum(key: key, session: session, bucket))
                }
                last = (key, index)
            }
            sums[index].add(bucket, provider)
        }
        return sums
    }

    private static func order(
        _ sums: [Sum], _ grouping: Grouping, _ sessions: [TokenSession], byProject: Bool, _ query: ReportQuery
    ) -> [Int] {
        sums.indices.sorted { left, right in
            let names = (sessions[sums[left].session], sessions[sums[right].session])
            if byProject, names.0.projectName != names.1.projectName {
                return names.0.projectName < names.1.projectName
            }
            let (first, second) = query.isDescending ? (sums[right], sums[left]) : (sums[left], sums[right])
            guard grouping == .session else { return first.key.group < second.key.group }
            if first.last != second.last { return first.last < second.last }
            return (names.0.id, names.0.source) < (names.1.id, names.1.source)
        }
    }

    /// The models of all rows of which not every request has a price; those with the most tokens first.
    package func unknownModels(_ mode: CostMode) -> [ModelUsage] {
        rows.flatMap(\.models).unknown(mode)
    }

    /// A row: a day's number or a session's, and a project's.
    private struct Key: Hashable {
        var group: Int
        var project = 0
    }

    private struct Groups {
        let grouping: Grouping
        /// By session's number those of the first session with its id, and with its project.
        private var sessions: [Int] = []
        private var projects: [Int] = []

        init(_ usage: TokenUsage, _ grouping: Grouping, byProject: Bool) {
            self.grouping = grouping
            if grouping == .session {
                sessions = Self.numbers(usage.sessions) { ContentHash.of($0.source, $0.id) }
            } else if byProject {
                projects = Self.numbers(usage.sessions) { $0.projectName }
            }
        }

        func key(_ day: CalendarDay, _ session: Int) -> Key {
            let project = projects.isEmpty ? 0 : projects[session]
            return switch grouping {
            case .day: Key(group: day.number, project: project)
            case .week(let start): Key(group: day.onOrBefore(start).number, project: project)
            case .month: Key(group: day.startOfMonth.number, project: project)
            case .session: Key(group: sessions[session])
            }
        }

        private static func numbers<Name: Hashable>(
            _ sessions: [TokenSession], _ name: (TokenSession) -> Name
        ) -> [Int] {
            var numbers: [Name: Int] = [:]
            return sessions.enumerated().map { index, session in
                let name = name(session)
                if let number = numbers[name] { return number }
                numbers[name] = index
                return index
            }
        }
    }

    private struct Sum {
        let key: Key
        /// The one that was at work last.
        var session: Int
        /// A bit for each provider.
        private var providers: UInt64 = 0
        var first: Int64
        var last: Int64
        var models = ModelSums()

        init(key: Key, session: Int, _ bucket: TokenBucket) {
            self.key = key
            self.session = session
            first = bucket.first
            last = bucket.last
        }

        mutating func add(_ bucket: TokenBucket, _ provider: Int) {
            providers |= 1 &<< UInt64(provider)
            if bucket.last >= last { session = Int(bucket.key.session) }
            first = min(first, bucket.first)
            last = max(last, bucket.last)
            models.add(bucket)
        }

        func row(_ grouping: Grouping, _ usage: TokenUsage, _ names: [String], isOfProject: Bool) -> Row {
            let day = CalendarDay(number: key.group)
            let session = usage.sessions[session]
            let period =
                switch grouping {
                case .day, .week: day.description
                case .month: day.month
                case .session: session.id
                }
            return Row(
                period: period,
                providers: names.indices.filter { providers >> UInt64($0) & 1 == 1 }.map { names[$0] }.sorted(),
                project: grouping == .session ? session.project : isOfProject ? session.projectName : nil, first: first,
                last: last, models: models.models(usage.models), total: models.total)
        }
    }
}

extension TokenSession {
    fileprivate var projectName: String { project ?? ReportQuery.unknownProject }
}
