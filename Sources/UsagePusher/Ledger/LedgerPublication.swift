package import ClockZones
package import Essentials

/// What one machine writes into the store `usage-ledger`. Pure.
///
/// A page is written by its device alone, so that nothing is merged there; `LedgerUnion` merges what is read. A
/// session's day that the files no longer state stays as it was stated last.
package struct LedgerPublication {
    private let device: String
    /// Days since 1970.
    private let today: Int
    private let isCurrent: Bool
    package var ages = LedgerAges()
    private var clock: ReportClock
    /// The keys of pages that a newer version has written, which stay as they are. Damaged ones are written again.
    private let newer: Set<LedgerKey>
    /// This device's, as they are stored, and without what is forgotten.
    private let stored: [LedgerKey: LedgerPage]
    private var own: [LedgerKey: LedgerPage]
    private let imports: [LedgerKey: LedgerPage]
    private let rules: [ForgetRule]
    private var statedByOthers: [SessionDay.Key: [SessionDay]] = [:]
    /// The `sessionBits` of others' sessions that are stated by day, by the first of the month.
    private var sharedSessions: [Int: Set<UInt64>] = [:]
    /// The months that some machine has closed.
    private let closedMonths: Set<Int>
    private let claimedByOthers: LedgerClaims
    /// A sentence for each page that the last `changes` leave out.
    package private(set) var issues: [String] = []

    /// - Parameters:
    ///   - device: whose pages are written.
    ///   - today: by the clock, in UTC.
    ///   - zone: of the days of older months.
    ///   - isCurrent: whether `stored` has what other machines have written until now. Otherwise only the newest days
    ///     are written: sums in which two machines have the same session cannot be corrected.
    ///   - stored: the pages of all devices.
    package init(device: String, today: Int, zone: ClockZone, isCurrent: Bool = true, stored: LedgerPages) {
        self.device = device
        self.today = today
        self.isCurrent = isCurrent
        clock = ReportClock(zone: zone)
        newer = Set(stored.failures.filter { $0.value == .newer }.keys)
        self.stored = stored.pages.filter { $0.key.device == device }
        imports = stored.imports.filter { $0.key.device == device }
        rules = stored.rules
        own = self.stored
        closedMonths = Set(stored.pages.lazy.filter { $0.value.detail == .closed }.map(\.key.day))
        var others: [LedgerPage] = []
        for (key, page) in stored.pages where key.device != device {
            var page = page
            page.forget(rules, of: key.device, &clock)
            others.append(page)
        }
        claimedByOthers = LedgerClaims(others)
        for entry in others.flatMap(\.sessionDays) {
            // A copy of what another machine has to forget is this one's alone.
            if !entry.isForgotten { statedByOthers[entry.key, default: []].append(entry) }
            sharedSessions[entry.key.month, default: []].insert(LedgerPage.sessionBits(entry.key.session))
        }
        for key in own.keys { own[key]?.forget(rules, of: device, &clock) }
    }

    /// What is to be written, by key: nil for what is to be removed.
    ///
    /// - Parameters:
    ///   - usage: all that is known of the files.
    ///   - first: a day, for what is used from then on alone.
    ///   - projects: what stands for theirs.
    ///   - requests: called with the days of sessions of which another machine has other requests; returns those that
    ///     this one has.
    package mutating func changes(
        _ usage: TokenUsage, from first: Int = 1, _ projects: inout LedgerProjects,
        requests: (Set<SessionDay.Key>) -> [SessionDay.Key: [LedgerRequest]] = { _ in [:] }
    ) -> [String: Data?] {
        changes(usage.sessionDays(first...today + 1) { projects.key(of: $0) }, requests: requests)
    }

    /// - Parameter current: what the files state.
    mutating func changes(
        _ current: [SessionDay.Key: SessionDay],
        requests: (Set<SessionDay.Key>) -> [SessionDay.Key: [LedgerRequest]] = { _ in [:] }
    ) -> [String: Data?] {
        var entries = merged(current)
        let contested = entries.values.filter { entry in
            entry.requests.isEmpty
                && statedByOthers[entry.key, default: []].contains { $0.fingerprint != entry.fingerprint }
        }
        for (key, stated) in requests(Set(contested.map(\.key))) {
            if let entry = entries[key], stated.amount.isSame(as: entry.amount) { entries[key]?.requests = stated }
        }
        var months = Dictionary(grouping: entries.values, by: \.key.month)
        for key in own.keys where key.isMonth && months[key.day] == nil { months[key.day] = [] }
        var pages: [LedgerKey: LedgerPage] = [:]
        for (month, entries) in months {
            let key = LedgerKey(device: device, day: month, isMonth: true)
            let detail = max(ages.detail(ofMonth: month, today: today), own[key]?.detail ?? .hours)
            if detail == .hours {
                for (day, entries) in Dictionary(grouping: entries, by: \.key.day) {
                    pages[LedgerKey(device: device, day: day)] = LedgerPage(start: day, detail, entries)
                }
            } else {
                pages[key] = page(ofMonth: month, detail, entries, own[key])
            }
        }
        var changes: [String: Data?] = [:]
        var refused: Set<LedgerKey> = []
        let keys = Set(pages.keys).union(stored.keys)
        for key in keys where pages[key] != stored[key] && !newer.contains(key) {
            let isFolded = key.isMonth || ages.detail(ofMonth: key.day, today: today) > .hours
            guard isCurrent || !isFolded else { continue }
            let bytes = pages[key]?.bytes
            if let bytes, (try? LedgerPage(bytes, start: key.day)) == nil { refused.insert(key) }
            changes[key.name] = .some(bytes.map { Data($0) })
        }
        // In place of what nobody could read stays what is stored, of a month also its days.
        for key in keys where refused.contains(key) || refused.contains(key.ofMonth) { changes[key.name] = nil }
        issues = refused.map { "\(LedgerKey.storeName): \($0.name) is not written: its numbers are too large" }.sorted()
        for (key, page) in imports {
            var rest = page
            rest.forgetImports(rules, of: device)
            if rest != page { changes[key.name] = .some(rest.cells.isEmpty ? nil : Data(rest.bytes)) }
        }
        return changes
    }

    private mutating func page(
        ofMonth month: Int, _ detail: LedgerPage.Detail, _ entries: [SessionDay], _ stored: LedgerPage?
    ) -> LedgerPage {
        guard detail >= .projects else {
            return LedgerPage(start: month, detail, entries.map { $0.folded(&clock) })
        }
        var page = LedgerPage(start: month, .projects, entries.filter { stored?.claims($0.key) != true })
        page.foldSessions(others: { statedByOthers[$0] ?? [] }, &clock)
        if let stored, stored.detail == .projects { page.add(stored) }
        if detail >= .months {
            let own = page.sessionDays.map { LedgerPage.sessionBits($0.key.session) }
            page.foldDays(shared: sharedSessions[month, default: []].union(own))
            if let stored, stored.detail >= .months { page.add(stored) }
        }
        if detail == .closed { page.close() }
        let age = ages.age(ofMonth: month, today: today)
        if age >= ages.withoutProjects { page.removeProjects() }
        if age >= ages.withoutModels { page.removeModels() }
        return page
    }

    /// What counts of this machine's sessions: what the files state now, and of other days what they have stated last;
    /// without those that another machine's cells have.
    private mutating func merged(_ current: [SessionDay.Key: SessionDay]) -> [SessionDay.Key: SessionDay] {
        var merged: [SessionDay.Key: SessionDay] = [:]
        for entry in own.values.lazy.flatMap(\.sessionDays) { merged[entry.key] = entry }
        for (key, var entry) in current where !closedMonths.contains(key.month) {
            if let stored = merged[key] {
                entry.project = entry.project ?? stored.project
                let lines = stored.isFolded ? entry.folded(&clock).lines : entry.lines
                if stored.fingerprint == entry.fingerprint, stored.lines == lines {
                    (entry.requests, entry.lines, entry.isFolded) = (stored.requests, lines, stored.isFolded)
                }
            }
            merged[key] = entry
        }
        for key in rules.isEmpty ? [] : Array(merged.keys) { merged[key]?.forget(rules, of: device, &clock) }
        return merged.filter { !claimedByOthers.contain($0.key) }
    }
}

extension [LedgerRequest] {
    fileprivate var amount: UsageAmount { reduce(into: UsageAmount()) { $0 += $1.line.amount } }
}

extension UsageAmount {
    /// Whether both count the same, whatever roundings make of the costs.
    fileprivate func isSame(as other: UsageAmount) -> Bool {
        requestCount == other.requestCount && counts == other.counts
    }
}
