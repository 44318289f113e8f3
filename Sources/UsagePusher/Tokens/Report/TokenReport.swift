/// The tokens of days, weeks, months or sessions.
///
/// Days are exact in every zone: no zone's day begins inside of a quarter of an hour, and a bucket is at most that.
package struct TokenReport: Sendable {
    package enum Grouping: Sendable, Hashable {
        case day
        case week(start: Weekday)
        case month
        case year
        /// All parts of a session in one row, those of subagents too.
        case session
        case project
        case model
        /// As `TokenUsage.devices` names them.
        case device

        /// What ccusage calls the column of what a row is of; its own groupings have no years, projects, models and
        /// machines.
        var columnName: String {
            switch self {
            case .day: "date"
            case .week: "week"
            case .month: "month"
            case .year: "year"
            case .session: "sessionId"
            case .project: "project"
            case .model: "modelName"
            case .device: "machine"
            }
        }

        /// Whether a row is a time.
        package var isOfTime: Bool {
            switch self {
            case .day, .week, .month, .year: true
            case .session, .project, .model, .device: false
            }
        }
    }

    package struct Row: Sendable {
        /// "2026-09-18", the first day of the week, "2026-09", "2026", the session's id, the name of what it is of.
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
    /// The days on which something is known from another counter alone.
    package private(set) var importedDays: Set<CalendarDay> = []

    /// - Parameter byProject: whether each project has rows of its own. Not for sessions.
    package init(_ usage: TokenUsage, by grouping: Grouping, byProject: Bool = false, query: ReportQuery) {
        let providers = ReportQuery.Providers(usage.sessions, query)
        var clock = ReportClock(zone: query.zone)
        var sums = sums(usage, Groups(usage, grouping, byProject: byProject), providers, &clock, query)
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

    private mutating func sums(
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
            if bucket.key.isImported { importedDays.insert(day) }
            let key = groups.key(day, bucket)
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
            if grouping.isOfTime { return first.key.group < second.key.group }
            guard grouping == .session else {
                let amounts = (sums[left].models.total, sums[right].models.total)
                let costs = (amounts.0.cost.dollars(.auto), amounts.1.cost.dollars(.auto))
                if costs.0 != costs.1 { return costs.0 > costs.1 }
                return (amounts.1.counts.total, sums[left].key.group) < (amounts.0.counts.total, sums[right].key.group)
            }
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
        /// By session's number those of the first session with its id, of its device, and with its project.
        private var sessions: [Int] = []
        private var projects: [Int] = []

        init(_ usage: TokenUsage, _ grouping: Grouping, byProject: Bool) {
            self.grouping = grouping
            if grouping == .session {
                sessions = Self.numbers(usage.sessions) { ContentHash.of($0.source, $0.id) }
            } else if grouping == .device {
                sessions = Self.numbers(Array(usage.sessions.indices)) { usage.device(ofSession: $0) }
            } else if byProject || grouping == .project {
                projects = Self.numbers(usage.sessions) { $0.projectName }
            }
        }

        func key(_ day: CalendarDay, _ bucket: TokenBucket) -> Key {
            let session = Int(bucket.key.session)
            let project = projects.isEmpty ? 0 : projects[session]
            return switch grouping {
            case .day: Key(group: day.number, project: project)
            case .week(let start): Key(group: day.onOrBefore(start).number, project: project)
            case .month: Key(group: day.startOfMonth.number, project: project)
            case .year: Key(group: day.date.year, project: project)
            case .session, .device: Key(group: sessions[session])
            case .project: Key(group: project)
            case .model: Key(group: Int(bucket.key.model))
            }
        }

        private static func numbers<Element, Name: Hashable>(
            _ sessions: [Element], _ name: (Element) -> Name
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
            let day = CalendarDay(number: grouping.isOfTime ? key.group : 0)
            let device = usage.device(ofSession: session)
            let session = usage.sessions[session]
            let period =
                switch grouping {
                case .day, .week: day.description
                case .month: day.month
                case .year: CalendarDay.padded(key.group, 4)
                case .session: session.id
                case .project: session.projectName
                case .model: models.amounts.first.flatMap { usage.name(ofModel: $0.name.model) } ?? "unknown"
                case .device: device
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
