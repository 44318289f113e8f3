/// A value of the store `usage-ledger`: what one machine knows of one day or month.
///
/// The bytes: a version, the `Detail`, a checksum of the rest (32 bits), a table of texts, and what the properties
/// have, in the numbers of LEB128; texts are numbers in the table, and each list begins with its length. A session and
/// a fingerprint take six bytes.
package struct LedgerPage: Sendable, Hashable {
    /// What is stated one by one; each leaves out more than the one before.
    package enum Detail: UInt8, Sendable, Comparable, CaseIterable {
        /// Sessions by hour.
        case hours
        /// Sessions by day of the machine's time zone.
        case days
        /// Days by project and model.
        case projects
        /// Months by model, months by project, and days.
        case months
        /// The same, without the sessions that are in it: nothing is added to it any more, by any machine.
        case closed

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    package var detail = Detail.hours
    /// Days since 1970: the day that it is about, or the first of the month.
    package var start: Int
    /// Each session's day once, in order.
    package var sessionDays: [SessionDay] = []
    /// What is not stated by session; with `Detail.months` without projects.
    package var cells: [LedgerCell] = []
    /// With `Detail.months`: the same as in `cells`, by month and project.
    package var projects: [LedgerCell] = []
    /// With `Detail.months`: the same, by day.
    package var days: [LedgerCell] = []
    /// What is in `cells`: each `claim` of a session's day, which counts nowhere else.
    package var claims: Set<UInt64> = []

    init(start: Int, _ detail: Detail = .hours, _ sessionDays: [SessionDay] = []) {
        self.start = start
        self.detail = detail
        self.sessionDays = sessionDays.sorted { $0.key < $1.key }
    }

    /// What stands for a session's day: 36 bits of the session, and the day of the month.
    static func claim(_ key: SessionDay.Key) -> UInt64 {
        sessionBits(key.session) << 5 | UInt64(CalendarDay(number: key.day).date.day)
    }

    static func sessionBits(_ session: UInt64) -> UInt64 { session >> 12 }
    static func sessionBits(ofClaim claim: UInt64) -> UInt64 { claim >> 5 }

    /// What stands for all days of a session, in months of which there are many: 22 bits, by which one of some thousand
    /// sessions is taken for another one.
    static func sessionClaim(of claim: UInt64) -> UInt64 { 1 << 41 | claim >> 19 }

    /// Whether a session's day is in the cells.
    func claims(_ key: SessionDay.Key) -> Bool {
        guard !claims.isEmpty, key.month == start else { return false }
        let claim = Self.claim(key)
        return claims.contains(claim)
            || claims.contains(Self.sessionClaim(of: claim)) && !sessionDays.contains { $0.key == key }
    }

    package enum Failure: Error, Hashable {
        case damaged, newer

        /// Completes a sentence about the page.
        package var text: String {
            switch self {
            case .damaged: "is damaged; it counts again after the next push of its machine"
            case .newer: "is of a newer version; update this program"
            }
        }
    }

    private static let version: UInt8 = 1
    private static let headByteCount = 6

    package var bytes: [UInt8] {
        var texts = TextTable()
        var body = ByteWriter()
        body.add(varint: sessionDays.count)
        var day = 0
        for entry in sessionDays {
            body.add(varint: entry.key.day - day)
            day = entry.key.day
            body.add(hash: entry.key.session)
            body.add(hash: entry.fingerprint)
            body.add(varint: texts.number(of: entry.source))
            body.add(varint: texts.number(of: entry.project))
            body.add(varint: entry.lines.count)
            for line in entry.lines { body.add(line, &texts) }
            body.add(varint: entry.requests.count)
            for request in entry.requests {
                body.add(hash: request.id)
                body.add(request.line, &texts)
            }
        }
        for cells in [cells, projects, days] {
            body.add(varint: cells.count)
            // They are in the order of days.
            var last = 0
            for cell in cells {
                body.add(varint: cell.day - last)
                last = cell.day
                body.add(varint: texts.number(of: cell.source))
                body.add(varint: texts.number(of: cell.project))
                body.add(cell.line, &texts)
            }
        }
        body.add(varint: claims.count)
        var last = UInt64(0)
        for claim in claims.sorted() {
            body.add(varint: Int(bitPattern: UInt(claim - last)))
            last = claim
        }
        var table = ByteWriter()
        table.add(varint: texts.texts.count)
        for text in texts.texts { table.add(shortText: text) }
        let rest = table.bytes + body.bytes
        var head = ByteWriter()
        head.add(byte: Self.version)
        head.add(byte: detail.rawValue)
        let checksum = rest.withUnsafeBytes(ContentHash.of)
        for shift in [0, 8, 16, 24] { head.add(byte: UInt8(truncatingIfNeeded: checksum >> UInt64(shift))) }
        return head.bytes + rest
    }

    /// - Throws: when the bytes are not `bytes` of a page, or of a newer version of the format.
    package init(_ bytes: [UInt8], start: Int) throws(Failure) {
        self.start = start
        guard bytes.count > Self.headByteCount else { throw .damaged }
        guard bytes[0] <= Self.version, let detail = Detail(rawValue: bytes[1]) else { throw .newer }
        self.detail = detail
        let failure: Failure? = bytes.withUnsafeBytes { raw in
            let rest = UnsafeRawBufferPointer(rebasing: raw[Self.headByteCount...])
            let checksum = ContentHash.of(rest)
            for index in 0..<4 where bytes[2 + index] != UInt8(truncatingIfNeeded: checksum >> UInt64(8 * index)) {
                return .damaged
            }
            var reader = ByteReader(rest)
            read(&reader)
            return reader.isFailed ? .damaged : nil
        }
        if let failure { throw failure }
    }

    private mutating func read(_ reader: inout ByteReader) {
        var texts: [String] = []
        for _ in 0..<reader.varcount() where !reader.isFailed { texts.append(reader.shortText()) }
        func text() -> String? {
            let number = reader.varint()
            if number == 0 { return nil }
            guard number > 0, number <= texts.count else {
                reader.fail()
                return nil
            }
            return texts[number - 1]
        }
        func line() -> LedgerLine {
            let slot = Int(reader.byte()) - 1
            if slot > 23 { reader.fail() }
            return LedgerLine(slot: slot, model: text(), reader.ledgerAmount())
        }
        // A day of the month, or with a time zone's offset the one before or after it; of months the first of theirs.
        let first = detail >= .months ? CalendarDay(number: start - 1).startOfMonth.number : start - 1
        func check(_ day: Int) {
            if !(first...start + 31).contains(day) { reader.fail() }
        }
        var day = 0
        for _ in 0..<reader.varcount() where !reader.isFailed {
            day &+= reader.varint()
            check(day)
            var entry = SessionDay(key: .init(day: day, session: reader.hash()), source: "")
            entry.isFolded = detail > .hours
            entry.fingerprint = reader.hash()
            entry.source = text() ?? ""
            entry.project = text()
            for _ in 0..<reader.varcount() where !reader.isFailed { entry.lines.append(line()) }
            for _ in 0..<reader.varcount() where !reader.isFailed {
                entry.requests.append(LedgerRequest(id: reader.hash(), line: line()))
            }
            sessionDays.append(entry)
        }
        func readCells() -> [LedgerCell] {
            var cells: [LedgerCell] = []
            var day = 0
            for _ in 0..<reader.varcount() where !reader.isFailed {
                day &+= reader.varint()
                check(day)
                cells.append(LedgerCell(day: day, source: text() ?? "", project: text(), line: line()))
            }
            return cells
        }
        cells = readCells()
        projects = readCells()
        days = readCells()
        var claim = UInt64(0)
        for _ in 0..<reader.varcount() where !reader.isFailed {
            claim &+= UInt64(bitPattern: Int64(reader.varint()))
            claims.insert(claim)
        }
    }
}

/// What was used on one day, or in one month, for one project with one model.
package struct LedgerCell: Sendable, Hashable {
    /// Days since 1970 in the machine's time zone; of a month the first, which may be that of the month before or after
    /// the page's.
    package var day: Int
    /// The id of the provider.
    package var source: String
    package var project: String?
    /// Its slot is 0.
    package var line: LedgerLine
}

/// Texts by number, from 1 on; 0 is none.
private struct TextTable {
    private(set) var texts: [String] = []
    private var numbers: [String: Int] = [:]

    mutating func number(of text: String?) -> Int {
        guard let text else { return 0 }
        if let number = numbers[text] { return number }
        texts.append(text)
        numbers[text] = texts.count
        return texts.count
    }
}

extension ByteWriter {
    fileprivate mutating func add(hash: UInt64) {
        for shift in stride(from: 0, to: 48, by: 8) { add(byte: UInt8(truncatingIfNeeded: hash >> UInt64(shift))) }
    }

    fileprivate mutating func add(shortText text: String) {
        add(varint: text.utf8.count)
        for byte in text.utf8 { add(byte: byte) }
    }

    /// An amount has only the numbers that are not 0, with a bit for each that is there.
    fileprivate mutating func add(_ line: LedgerLine, _ texts: inout TextTable) {
        add(byte: UInt8(truncatingIfNeeded: line.slot &+ 1))
        add(varint: texts.number(of: line.model))
        add(byte: line.kind)
        add(varint: line.amount.requestCount)
        add(numbers: line.amount.counts.words)
        add(numbers: line.amount.cost.ledgerWords)
    }

    private mutating func add(numbers: [Int]) {
        add(byte: numbers.indices.reduce(0) { $0 | (numbers[$1] == 0 ? 0 : 1 << UInt8($1)) })
        for number in numbers where number != 0 { add(varint: number) }
    }
}

extension LedgerLine {
    /// From the lowest bit on: whether it is coarse, three bits of the tier, and four of the surcharge.
    var kind: UInt8 { surcharge.rawValue << 4 | tier.rawValue << 1 | (isCoarse ? 1 : 0) }

    /// - Parameter stated: what it is of, and how much.
    fileprivate init(slot: Int, model: String?, _ stated: (kind: UInt8, amount: UsageAmount)) {
        self.init(slot: slot, model: model)
        isCoarse = stated.kind & 1 == 1
        tier = ServiceTier(rawValue: stated.kind >> 1 & 7) ?? .unknown
        surcharge = Surcharge(rawValue: stated.kind >> 4)
        amount = stated.amount
        if isCoarse { amount.coarseTokens = amount.counts.total }
    }
}

extension ByteReader {
    fileprivate mutating func hash() -> UInt64 {
        (0..<6).reduce(0) { $0 | UInt64(byte()) << UInt64(8 * $1) }
    }

    fileprivate mutating func shortText() -> String {
        let count = varcount()
        return String(decoding: (0..<count).map { _ in byte() }, as: UTF8.self)
    }

    fileprivate mutating func ledgerAmount() -> (kind: UInt8, amount: UsageAmount) {
        let kind = byte()
        var amount = UsageAmount()
        amount.requestCount = number()
        amount.counts = TokenCounts(words: numbers(TokenCounts.wordCount))
        amount.cost = CostSums(ledgerWords: numbers(CostSums.wordCount))
        return (kind, amount)
    }

    private mutating func numbers(_ count: Int) -> [Int] {
        let present = byte()
        return (0..<count).map { present >> UInt8($0) & 1 == 1 ? number() : 0 }
    }

    /// At most 2⁵³, so that it can be multiplied by the units of a cost.
    private mutating func number() -> Int {
        let number = varint()
        guard (0...1 << 53).contains(number) else {
            fail()
            return 0
        }
        return number
    }
}
