package import ClockZones
package import Essentials

/// What one machine writes into the store `usage-ledger`. Pure.
///
/// A page is written by its device alone, so that nothing is merged there; `LedgerUnion` merges what is read. What the
/// files, also those that are deleted, no longer state of a session's day is withdrawn, except `LedgerOrphans`.
package struct LedgerPublication {
    private let device: String
    /// Days since 1970.
    private let today: Int
    private let isCurrent: Bool
    package var ages = LedgerAges()
    /// Those after the last `changes`.
    package private(set) var orphans: LedgerOrphans
    private var clock: ReportClock
    /// The keys of pages that a newer version has written, which stay as they are. Damaged ones are written again.
    private let newer: Set<LedgerKey>
    /// This device's, as they are stored, and without what is forgotten.
    private let stored: [LedgerKey: LedgerPage]
    private var own: [LedgerKey: LedgerPage]
    private let imports: [LedgerKey: LedgerPage]
    private let rules: [ForgetRule]
    private var statedByOthers: [SessionDay.Key: [SessionDay]] = [:]
    /// Those with sums, by session.
    private var sumsByOthers: [UInt64: [SessionDay]] = [:]
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
    ///   - orphans: as the last publication has left them.
    package init(
        device: String, today: Int, zone: ClockZone, isCurrent: Bool = true, stored: LedgerPages,
        orphans: LedgerOrphans = LedgerOrphans()
    ) {
        self.orphans = orphans
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
            if !entry.isForgotten {
                statedByOthers[entry.key, default: []].append(entry)
                if entry.hasSums { sumsByOthers[entry.key.session, default: []].append(entry) }
            }
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
    ///   - copies: called after the cache was lost, with the days of sessions that are not stated; see
    ///     `TokenLedger.copies`.
    ///   - requests: called with the days of sessions of which another machine has other requests; returns those that
    ///     this one has.
    package mutating func changes(
        _ usage: TokenUsage, from first: Int = 1, _ projects: inout LedgerProjects,
        copies: (Set<SessionDay.Key>) -> [SessionDay.Key: UInt64] = { _ in [:] },
        requests: (Set<SessionDay.Key>) -> [SessionDay.Key: [LedgerRequest]] = { _ in [:] }
    ) -> [String: Data?] {
        let last = TokenUsage.lastDay(onDay: today)
        let days = first...last
        let gaps = Set(usage.gaps.map(\.source))
        return changes(
            usage.sessionDays(days, &clock) { projects.key(of: $0) }, of: usage.cache,
            isStated: { days.contains($0.key.day) && !gaps.contains($0.source) }, copies: copies, requests: requests)
    }

    /// Days after which what was used does not move any more; fewer than for which a cache has it.
    private static let movingDayCount = 365

    /// - Parameters:
    ///   - current: what the files state.
    ///   - cache: see `TokenUsage.cache`.
    ///   - isStated: whether `current` has a session's day unless it has moved.
    mutating func changes(
        _ current: [SessionDay.Key: SessionDay], of cache: UInt64 = 0,
        isStated: (SessionDay) -> Bool = { _ in false },
        copies: (Set<SessionDay.Key>) -> [SessionDay.Key: UInt64] = { _ in [:] },
        requests: (Set<SessionDay.Key>) -> [SessionDay.Key: [LedgerRequest]] = { _ in [:] }
    ) -> [String: Data?] {
        let published = own.values.flatMap(\.sessionDays)
        orphans.update(published, current, of: cache, today: today, copies: copies)
        let kept = published.filter { entry in
            current[entry.key] != nil || orphans.contain(entry.key) || !isStated(entry)
                || entry.key.day < today - Self.movingDayCount
        }
        var entries = merged(kept, current)
        let contested = entries.values.filter { $0.requests.isEmpty && isContested($0) }
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
            // What its reader refuses is named.
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
        page.foldSessions(others: others, &clock)
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

    /// What other machines state of a session's day; of one with sums also of the session's other days.
    private func others(_ entry: SessionDay) -> [SessionDay] {
        statedByOthers[entry.key] ?? (entry.hasSums ? sumsByOthers[entry.key.session] : nil) ?? []
    }

    /// Whether another machine has other requests, or may have the same ones on another day.
    private func isContested(_ entry: SessionDay) -> Bool {
        entry.hasSums && sumsByOthers[entry.key.session] != nil
            || statedByOthers[entry.key, default: []].contains { $0.fingerprint != entry.fingerprint }
    }

    /// What counts of this machine's sessions, without those that another machine's cells have.
    ///
    /// - Parameters:
    ///   - kept: what stays of what is stored, if it is not stated.
    ///   - current: what the files state.
    private mutating func merged(
        _ kept: [SessionDay], _ current: [SessionDay.Key: SessionDay]
    ) -> [SessionDay.Key: SessionDay] {
        var merged: [SessionDay.Key: SessionDay] = [:]
        for entry in kept { merged[entry.key] = entry }
        for (key, var entry) in current where !closedMonths.contains(key.month) {
            if let stored = merged[key] {
                if orphans.contain(key) { continue }
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
