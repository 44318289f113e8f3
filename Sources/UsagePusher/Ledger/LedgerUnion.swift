import ClockZones
import Essentials

/// What all machines have used, each request once: their pages put together.
///
/// What several machines state of one session and day is that of one session that was copied. With equal fingerprints
/// it counts once. Otherwise both state each request, and each of these counts once; until both do, what has more
/// requests counts. Sums, of which only the time of the session's last change is known, are of one request on all days
/// of a session. A session that is among the `claims` of a page is in that page's cells, and nothing else of it counts
/// in that month.
struct LedgerUnion: Sendable {
    /// By device.
    let pages: [String: [LedgerPage]]
    private let imports: [String: [LedgerPage]]
    private let rules: [ForgetRule]
    private var clock: ReportClock

    /// - Parameters:
    ///   - imports: what machines have imported, by device.
    ///   - rules: what must not count.
    ///   - zone: whose days those are that are stated by day on one machine and by hour on another.
    init(
        _ pages: [String: [LedgerPage]], imports: [String: [LedgerPage]] = [:], rules: [ForgetRule] = [],
        zone: ClockZone
    ) {
        var clock = ReportClock(zone: zone)
        self.pages = pages.reduce(into: [:]) { result, device in
            result[device.key] = device.value.map { page in
                var page = page
                page.forget(rules, of: device.key, &clock)
                return page
            }
        }
        self.imports = imports
        self.rules = rules
        self.clock = clock
    }

    /// What counts of a session's day, and the device whose it is.
    struct Resolved: Hashable {
        var device: String
        var entry: SessionDay
    }

    /// What counts of each session's day, in their order.
    mutating func sessionDays() -> [Resolved] {
        var byKey: [SessionDay.Key: [Resolved]] = [:]
        for device in pages.keys.sorted() {
            let claims = LedgerClaims(pages.filter { $0.key != device }.values.joined())
            for entry in pages[device, default: []].lazy.flatMap(\.sessionDays) where !claims.contain(entry.key) {
                byKey[entry.key, default: []].append(Resolved(device: device, entry: entry))
            }
        }
        Self.moveSums(&byKey)
        return byKey.keys.sorted().compactMap { Self.resolve(byKey[$0] ?? [], &clock) }
    }

    /// Takes sums out of the days from which they have moved on, as another machine knows.
    private static func moveSums(_ byKey: inout [SessionDay.Key: [Resolved]]) {
        struct ID: Hashable {
            var session: UInt64
            var request: UInt64
        }
        var last: [ID: (key: SessionDay.Key, request: LedgerRequest)] = [:]
        var keys: Set<SessionDay.Key> = []
        for (key, stated) in byKey {
            for request in stated.lazy.flatMap(\.entry.requests) where request.line.isCoarse {
                keys.insert(key)
                let id = ID(session: key.session, request: request.id)
                let other = last[id] ?? (key, request)
                if request.line.amount.outranks(other.request.line.amount) ?? (key >= other.key) {
                    last[id] = (key, request)
                }
            }
        }
        for key in keys {
            for index in byKey[key]?.indices ?? 0..<0 {
                let rest = byKey[key]?[index].entry.requests.filter { request in
                    !request.line.isCoarse || last[ID(session: key.session, request: request.id)]?.key == key
                }
                if let rest, rest.count != byKey[key]?[index].entry.requests.count {
                    byKey[key]?[index].entry.state(rest)
                }
            }
            byKey[key]?.removeAll { $0.entry.lines.isEmpty }
        }
    }

    /// Each day of a tool of which the logs of some machine state something.
    mutating func loggedDays() -> Set<LedgerDay> {
        var days: Set<LedgerDay> = []
        for page in pages.values.joined() {
            for entry in page.sessionDays {
                for line in entry.lines {
                    let hour = Int64((entry.key.day * 24 + line.slot) * 3_600_000)
                    let day = entry.isFolded ? entry.key.day + line.slot : clock.day(of: hour).number
                    days.insert(LedgerDay(day: day, source: entry.source))
                }
            }
            for cell in page.detail < .months ? page.cells : page.days {
                days.insert(LedgerDay(day: cell.day, source: cell.source))
            }
        }
        return days
    }

    /// What counts of imports, by device.
    mutating func importedCells() -> [String: [LedgerCell]] {
        guard !imports.isEmpty else { return [:] }
        let logged = loggedDays()
        return LedgerImports(imports).best.values.reduce(into: [:]) { cells, best in
            guard !logged.contains(best.day) else { return }
            var page = LedgerPage(start: best.day.day, .projects)
            page.cells = best.cells
            page.forgetImports(rules, of: best.device)
            cells[best.device, default: []] += page.cells
        }
    }

    /// What counts of one session on one day.
    ///
    /// - Parameter stated: in the order of the devices.
    static func resolve(_ stated: [Resolved], _ clock: inout ReportClock) -> Resolved? {
        guard var best = stated.first else { return nil }
        guard stated.count > 1 else { return best }
        var stated = stated
        if stated.contains(where: \.entry.isFolded) {
            for index in stated.indices { stated[index].entry = stated[index].entry.folded(&clock) }
        }
        best = stated[0]
        for other in stated.dropFirst() where other.entry.amount.outranks(best.entry.amount) == true { best = other }
        best.entry.project = stated.lazy.compactMap(\.entry.project).first
        let detailed = stated.filter { !$0.entry.requests.isEmpty }
        guard Set(detailed.map(\.entry.fingerprint)).count > 1 else { return best }
        var requests: [UInt64: LedgerRequest] = [:]
        for request in detailed.lazy.flatMap(\.entry.requests) {
            if let other = requests[request.id], !request.outranks(other) { continue }
            requests[request.id] = request
        }
        var union = best
        union.entry.state(requests.values.sorted { $0.id < $1.id })
        return union.entry.amount.outranks(best.entry.amount) == true ? union : best
    }
}

/// The sessions that are in cells.
struct LedgerClaims: Sendable {
    /// By the first of the month.
    private var pages: [Int: [LedgerPage]] = [:]

    init(_ pages: some Sequence<LedgerPage>) {
        for page in pages where !page.claims.isEmpty { self.pages[page.start, default: []].append(page) }
    }

    func contain(_ key: SessionDay.Key) -> Bool {
        guard !pages.isEmpty else { return false }
        return pages[key.month]?.contains { $0.claims(key) } ?? false
    }
}
