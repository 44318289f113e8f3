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
        /// Where the session was last at work, and of a report by projects the project.
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
    package init(
        _ usage: TokenUsage, by grouping: Grouping, byProject: Bool = false, query: ReportQuery
    ) {
        let providers = query.providers(of: usage.sessions)
        let groups = Groups(usage, grouping, byProject: byProject)
        var clock = ReportClock(zone: query.zone)
        var indices: [Key: Int] = [:]
        var sums: [Sum] = []
        var last: (key: Key, index: Int)?
        for bucket in usage.buckets {
            let session = Int(bucket.key.session)
            guard let provider = providers[session] else { continue }
            let day = clock.day(of: bucket.first)
            // A session counts by its last day, which is known at the end.
            guard grouping == .session || query.includes(day) else { continue }
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
        for sum in sums {
            let row = sum.row(grouping, usage, byProject: byProject)
            if grouping == .session {
                guard row.total.counts.total > 0, query.includes(clock.day(of: row.last)) else {
                    continue
                }
            }
            rows.append(row)
            total += row.total
        }
        rows.sort { left, right in
            if byProject, left.project != right.project {
                return left.project ?? "" < right.project ?? ""
            }
            let (first, second) = query.isDescending ? (right, left) : (left, right)
            if grouping == .session, first.last != second.last { return first.last < second.last }
            return (first.period, first.providers.joined()) < (
                second.period, second.providers.joined()
            )
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
                sessions = Self.numbers(usage.sessions) { [$0.source, $0.id] }
            } else if byProject {
                projects = Self.numbers(usage.sessions) {
                    $0.project ?? ReportQuery.unknownProject
                }
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
        var providers: [String] = []
        var first: Int64
        var last: Int64
        var models = ModelSums()

        init(key: Key, session: Int, _ bucket: TokenBucket) {
            self.key = key
            self.session = session
            first = bucket.first
            last = bucket.last
        }

        mutating func add(_ bucket: TokenBucket, _ provider: String) {
            if !providers.contains(provider) { providers.append(provider) }
            if bucket.last >= last { session = Int(bucket.key.session) }
            first = min(first, bucket.first)
            last = max(last, bucket.last)
            models.add(bucket)
        }

        func row(_ grouping: Grouping, _ usage: TokenUsage, byProject: Bool) -> Row {
            let day = CalendarDay(number: key.group)
            let session = usage.sessions[session]
            let period =
                switch grouping {
                case .day, .week: day.description
                case .month: day.month
                case .session: session.id
                }
            let project: String? =
                byProject
                ? session.project ?? ReportQuery.unknownProject
                : grouping == .session ? session.project : nil
            return Row(
                period: period, providers: providers.sorted(), project: project, first: first,
                last: last, models: models.models(usage.models), total: models.total)
        }
    }
}
