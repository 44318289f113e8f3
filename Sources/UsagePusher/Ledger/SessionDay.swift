/// What one session used on one day, as the files of one machine state it.
package struct SessionDay: Sendable, Hashable {
    package struct Key: Sendable, Hashable, Comparable {
        /// Days since 1970, in UTC.
        package var day: Int
        /// `SessionDay.hash` of the tool and the session's id.
        package var session: UInt64

        package init(day: Int, session: UInt64) {
            self.day = day
            self.session = session
        }

        /// The first day of the month.
        var month: Int { CalendarDay(number: day).startOfMonth.number }

        package static func < (left: Self, right: Self) -> Bool {
            (left.day, left.session) < (right.day, right.session)
        }
    }

    package var key: Key
    /// The id of the provider.
    package var source: String
    /// What stands for the project, see `LedgerProjects`; nil when that is not known.
    package var project: String?
    /// The sum of hashes of all requests, in 48 bits: equal on two machines that have the same ones.
    package var fingerprint: UInt64 = 0
    /// By hour, or by day when `isFolded`.
    package var lines: [LedgerLine] = []
    /// Each request; stated when another machine has other ones of the session, else empty.
    package var requests: [LedgerRequest] = []
    /// Whether slots are days.
    package var isFolded = false

    package init(key: Key, source: String, project: String? = nil) {
        self.key = key
        self.source = source
        self.project = project
    }

    /// Whether some of it is known only as of the session's last change, with which it moves to other days.
    var hasSums: Bool { lines.contains(where: \.isCoarse) }

    package var amount: UsageAmount { lines.reduce(into: UsageAmount()) { $0 += $1.amount } }

    /// 48 bits, which tell apart what is compared here: the sessions and requests of one day.
    static func hash(_ hash: UInt64) -> UInt64 { hash & 0xFFFF_FFFF_FFFF }

    /// - Parameter other: of the same slot or not.
    mutating func add(_ other: LedgerLine) {
        if let index = lines.firstIndex(where: { $0.isLike(other) }) {
            lines[index].amount += other.amount
        } else {
            lines.append(other)
        }
    }

    /// States requests, and their sums, in place of others.
    mutating func state(_ requests: [LedgerRequest]) {
        self.requests = requests
        lines = []
        for request in requests { add(request.line) }
    }

    /// The hour of the UTC day that stands for a quarter of an hour: its own, or the next one where a day of the time
    /// zone begins in between, so that no hour is of two days.
    ///
    /// - Parameter clock: of the zone.
    static func hour(ofQuarter quarter: Int, _ clock: inout ReportClock) -> Int {
        func day(_ quarter: Int) -> CalendarDay { clock.day(of: Int64(quarter) * TokenBucket.quarter) }
        let hour = quarter % 96 / 4
        guard quarter % 4 > 0, hour < 23, day(quarter) != day(quarter - quarter % 4) else { return hour }
        return hour + 1
    }

    /// With the days of a time zone in place of hours.
    ///
    /// - Parameter clock: of the zone.
    func folded(_ clock: inout ReportClock) -> SessionDay {
        guard !isFolded else { return self }
        var folded = self
        folded.isFolded = true
        folded.lines = []
        func slot(_ hour: Int) -> Int {
            clock.day(of: Int64((key.day * 24 + hour) * 3_600_000)).number - key.day
        }
        for var line in lines {
            line.slot = slot(line.slot)
            folded.add(line)
        }
        folded.lines.sort()
        for index in folded.requests.indices {
            folded.requests[index].line.slot = slot(folded.requests[index].line.slot)
        }
        return folded
    }
}

/// What was used in one hour or on one day with one model.
package struct LedgerLine: Sendable, Hashable, Comparable {
    /// The hour of the UTC day, 0 to 23, see `SessionDay.hour(ofQuarter:_:)`; or the day in the machine's time zone,
    /// counted from the UTC day, -1 to 1.
    package var slot: Int
    package var model: String?
    package var tier = ServiceTier.standard
    package var surcharge = Surcharge()
    /// Whether the time is only that of the session's last change.
    package var isCoarse = false
    package var amount = UsageAmount()

    init(slot: Int, model: String? = nil) {
        self.slot = slot
        self.model = model
    }

    /// What is in a bucket, by its hour.
    init(_ bucket: TokenBucket, model: String?, _ clock: inout ReportClock) {
        self.init(slot: SessionDay.hour(ofQuarter: Int(bucket.key.quarter), &clock), model: model)
        tier = bucket.key.tier
        surcharge = bucket.key.surcharge
        isCoarse = bucket.key.isCoarse
        amount.add(bucket)
        amount.cost = CostSums(ledgerWords: amount.cost.ledgerWords)
    }

    func isLike(_ other: LedgerLine) -> Bool { order == other.order }

    package static func < (left: Self, right: Self) -> Bool { left.order < right.order }

    /// What distinguishes the lines of one session's day.
    private var order: (Int, String, UInt8) { (slot, model ?? "", kind) }
}

/// One request.
package struct LedgerRequest: Sendable, Hashable {
    /// The same on every machine that has it, in 48 bits.
    package var id: UInt64
    package var line: LedgerLine

    /// Which of two records of a request counts: a copied file may end in the middle of an answer.
    func outranks(_ other: LedgerRequest) -> Bool {
        line.amount.outranks(other.line.amount)
            ?? ((line.slot, line.model ?? "") < (other.line.slot, other.line.model ?? ""))
    }
}

extension UsageAmount {
    /// Whether this one states more; nil when both state the same.
    func outranks(_ other: UsageAmount) -> Bool? {
        if requestCount != other.requestCount { return requestCount > other.requestCount }
        if counts.total != other.counts.total { return counts.total > other.counts.total }
        let (words, others) = (counts.words + cost.words, other.counts.words + other.cost.words)
        return words == others ? nil : others.lexicographicallyPrecedes(words)
    }
}

extension TokenSession {
    /// What it is in the ledger, on every machine.
    var ledgerHash: UInt64 { SessionDay.hash(ContentHash.of(source, id)) }
}

extension TokenUsage {
    /// What each session used on each day, by all that its files have ever stated.
    ///
    /// - Parameters:
    ///   - days: since 1970 in UTC; none later than today: a tool's clock may be wrong.
    ///   - clock: of the machine's time zone.
    ///   - project: what stands for the project of a session.
    func sessionDays(
        _ days: ClosedRange<Int>, _ clock: inout ReportClock, project: (TokenSession) -> String?
    ) -> [SessionDay.Key: SessionDay] {
        let hashes = sessions.map(\.ledgerHash)
        var found: [SessionDay.Key: SessionDay] = [:]
        var projects: [UInt64: String] = [:]
        var names: [UInt32: String?] = [:]
        for bucket in keptBuckets {
            let day = Int(bucket.key.quarter) / 96
            guard days.contains(day) else { continue }
            let index = Int(bucket.key.session)
            let key = SessionDay.Key(day: day, session: hashes[index])
            let name = names[bucket.key.session] ?? project(sessions[index])
            names[bucket.key.session] = .some(name)
            if let name { projects[key.session] = name }
            found[key, default: SessionDay(key: key, source: sessions[index].source)].add(
                LedgerLine(bucket, model: model(of: bucket), &clock))
            found[key]?.fingerprint &+= bucket.fingerprint
        }
        return found.mapValues { entry in
            var entry = entry
            entry.fingerprint = SessionDay.hash(entry.fingerprint)
            entry.project = projects[entry.key.session]
            entry.lines.sort()
            return entry
        }
    }
}

extension TokenEntry {
    /// What identifies a request that counts, on every machine.
    var ledgerID: UInt64 {
        var hash = ContentHash(seed: id)
        hash.add(UInt64(variant))
        // What came from outside may be there again.
        if hasForeignID {
            hash.add(UInt64(prompt))
            hash.add(UInt64(bitPattern: time))
        }
        return hash.value
    }

    /// What is equal where all that counts of a request is.
    var fingerprint: UInt64 {
        var hash = ContentHash(seed: ledgerID)
        hash.add(counts)
        hash.add(ownCost.isNaN ? 0 : ownCost.bitPattern)
        return hash.value
    }
}
