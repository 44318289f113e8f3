package import ClockZones

/// What one machine writes into the store `usage-ledger`. Pure.
///
/// A page is written by its device alone, so that nothing is merged there; `LedgerUnion` merges what is read. A
/// session's day that the files no longer state stays as it was stated last.
package struct LedgerPublication {
    let device: String
    /// Days since 1970.
    let today: Int
    let zone: ClockZone
    package var ages = LedgerAges()
    /// Whether `stored` has what other machines have written until now. Otherwise only the newest days are written:
    /// what is folded can be told from what others have folded no more.
    var isCurrent = true
    /// What is stored, of this device and of others; a page that is damaged, or of a newer version, is none.
    let stored: [LedgerKey: [UInt8]]
    /// Keys whose pages cannot be read.
    package private(set) var unreadable: [LedgerKey: LedgerPage.Failure] = [:]
    private var own: [LedgerKey: LedgerPage] = [:]
    private var others: [String: [LedgerPage]] = [:]
    private var statedByOthers: [SessionDay.Key: [SessionDay]] = [:]
    /// The `sessionBits` of others' sessions that are stated by day, by the first of the month.
    private var sharedSessions: [Int: Set<UInt64>] = [:]
    /// The months that some machine has closed.
    private var closedMonths: Set<Int> = []
    private let claimedByOthers: LedgerClaims

    /// - Parameters:
    ///   - device: whose pages are written.
    ///   - today: by the clock, in UTC.
    ///   - zone: of the days of older months.
    ///   - isCurrent: whether `stored` has what other machines have written until now.
    package init(
        device: String, today: Int, zone: ClockZone, isCurrent: Bool = true, stored: [LedgerKey: [UInt8]],
        ages: LedgerAges = LedgerAges()
    ) {
        self.device = device
        self.today = today
        self.zone = zone
        self.isCurrent = isCurrent
        self.stored = stored
        self.ages = ages
        for (key, bytes) in stored {
            do throws(LedgerPage.Failure) {
                let page = try LedgerPage(bytes, start: key.day)
                if page.detail == .closed { closedMonths.insert(key.day) }
                if key.device == device { own[key] = page } else { others[key.device, default: []].append(page) }
            } catch {
                unreadable[key] = error
            }
        }
        for entry in others.values.lazy.joined().flatMap(\.sessionDays) {
            statedByOthers[entry.key, default: []].append(entry)
            sharedSessions[CalendarDay(number: entry.key.day).startOfMonth.number, default: []].insert(
                LedgerPage.sessionBits(entry.key.session))
        }
        claimedByOthers = LedgerClaims(others.values.joined())
    }

    /// The days of sessions that another machine states with other requests, and whose requests this one does not state
    /// yet.
    ///
    /// - Parameter current: what the files state.
    func contested(_ current: [SessionDay.Key: SessionDay]) -> Set<SessionDay.Key> {
        var clock = ReportClock(zone: zone)
        return Set(
            merged(current, &clock).values.lazy.filter { entry in
                entry.requests.isEmpty
                    && statedByOthers[entry.key, default: []].contains { $0.fingerprint != entry.fingerprint }
            }.map(\.key))
    }

    /// What is to be written: nil for what is to be removed.
    ///
    /// - Parameters:
    ///   - usage: all that is known of the files.
    ///   - projects: what stands for theirs.
    ///   - requests: those of given sessions' days.
    package func changes(
        _ usage: TokenUsage, _ projects: inout LedgerProjects,
        requests: (Set<SessionDay.Key>) -> [SessionDay.Key: [LedgerRequest]]
    ) -> [LedgerKey: [UInt8]?] {
        let current = usage.sessionDays(until: today + 1) { projects.key(of: $0) }
        return changes(current, requests: requests(contested(current)))
    }

    /// What is to be written: nil for what is to be removed.
    ///
    /// - Parameters:
    ///   - current: what the files state.
    ///   - requests: those of the days in `contested`.
    func changes(
        _ current: [SessionDay.Key: SessionDay], requests: [SessionDay.Key: [LedgerRequest]] = [:]
    ) -> [LedgerKey: [UInt8]?] {
        var clock = ReportClock(zone: zone)
        var months: [Int: [SessionDay]] = [:]
        for key in own.keys where key.isMonth { months[key.day] = [] }
        for var entry in merged(current, &clock).values {
            if let stated = requests[entry.key], entry.requests.isEmpty, stated.amount.isSame(as: entry.amount) {
                entry.requests = stated
            }
            months[CalendarDay(number: entry.key.day).startOfMonth.number, default: []].append(entry)
        }
        var pages: [LedgerKey: LedgerPage] = [:]
        for (month, entries) in months {
            let key = LedgerKey(device: device, day: month, isMonth: true)
            guard unreadable[key] == nil else { continue }
            let stored = own[key]
            let detail = max(ages.detail(ofMonth: month, today: today), stored?.detail ?? .hours)
            if detail == .hours {
                for entry in entries {
                    let key = LedgerKey(device: device, day: entry.key.day)
                    pages[key, default: LedgerPage(start: entry.key.day)].sessionDays.append(entry)
                }
            } else {
                pages[key] = page(ofMonth: month, detail, entries, stored, &clock)
            }
        }
        var changes: [LedgerKey: [UInt8]?] = [:]
        for (key, page) in pages {
            let bytes = page.bytes
            if stored[key] != bytes { changes[key] = bytes }
        }
        for key in own.keys where pages[key] == nil { changes[key] = .some(nil) }
        return isCurrent
            ? changes
            : changes.filter { key, _ in
                ages.detail(ofMonth: key.day, today: today) == .hours && !key.isMonth
            }
    }

    private func page(
        ofMonth month: Int, _ detail: LedgerPage.Detail, _ entries: [SessionDay], _ stored: LedgerPage?,
        _ clock: inout ReportClock
    ) -> LedgerPage {
        var page = LedgerPage(start: month)
        guard detail >= .projects else {
            page.detail = detail
            page.sessionDays = entries.map { $0.folded(&clock) }
            return page
        }
        page.detail = .projects
        page.sessionDays = entries.filter { stored?.claims($0.key) != true }
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
    private func merged(
        _ current: [SessionDay.Key: SessionDay], _ clock: inout ReportClock
    ) -> [SessionDay.Key: SessionDay] {
        var merged: [SessionDay.Key: SessionDay] = [:]
        for entry in own.values.lazy.flatMap(\.sessionDays) { merged[entry.key] = entry }
        for (key, var entry) in current where !closedMonths.contains(CalendarDay(number: key.day).startOfMonth.number) {
            if let stored = merged[key] {
                entry.project = entry.project ?? stored.project
                let lines = stored.isFolded ? entry.folded(&clock).lines : entry.lines
                if stored.fingerprint == entry.fingerprint, stored.lines == lines {
                    (entry.requests, entry.lines, entry.isFolded) = (stored.requests, lines, stored.isFolded)
                }
            }
            merged[key] = entry
        }
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
