import ClockZones
import Foundation
import StoreTestSupport

@testable import UsagePusher

/// Machines that use tools, copy, restore and delete logs, lose their caches, and publish what they know, in an order
/// that follows from a seed. Some requests move to another day or session, as an answer does that grows over midnight,
/// a copy of which the original appears, or a sum that a tool keeps of a session. What was used is known.
struct LedgerWorld {
    /// What can be wrong at the seams, to see that it is found.
    enum Fault: CaseIterable {
        /// Sessions with other requests look like copies.
        case equalFingerprints
        /// No requests are stated of sessions that several machines have.
        case noRequests
        /// What has moved stays where it was, too.
        case noMoves
        /// What a cache had that is lost is taken for moved.
        case noOrphans
        /// Each machine has its own ids of requests.
        case ownIDs
        /// The cells do not say whose sessions are in them.
        case noClaims
        /// What the files do not state any more is not told.
        case forgetful
        /// What was told once keeps the prices of that day.
        case oldPrices
        /// It is not told which prompts were long.
        case noSurcharges
    }

    struct Request: Hashable {
        var id: UInt64
        var session: UInt64
        /// Quarters of an hour since 1970.
        var quarter: Int
        var model: String
        var tokens: Int
        /// Whether it is all that is known of its session, as of its last change.
        var isSum = false
        /// How many corrections of prices were known when it was read.
        var prices: Int?

        var counts: TokenCounts { TokenCounts(input: tokens) }

        var day: Int { quarter / 96 }

        func line(pricesAfter correctionCount: Int, slot: Int = 0) -> LedgerLine {
            var line = LedgerLine(slot: slot, model: model)
            line.isCoarse = isSum
            let price = LedgerWorld.prices[correctionCount].own[model]
            let time = isSum ? nil : Int64(quarter) * TokenBucket.quarter
            line.surcharge =
                price?.surcharge(of: counts, isRegional: false, at: time)
                ?? Surcharge(ofUnpriced: counts, isRegional: false)
            line.amount.requestCount = 1
            line.amount.counts = counts
            line.amount.cost = CostSums(
                own: model == LedgerWorld.names[3] ? 1e-6 * Double(tokens) : .nan,
                calculated: price?.cost(of: counts, at: time) ?? TokenCost(gaps: .model), tokens: counts)
            return line
        }

        /// In 10⁻⁹ US dollars.
        func cost(pricesAfter correctionCount: Int) -> Int {
            line(pricesAfter: correctionCount).amount.cost.ledgerWords[0]
        }
    }

    /// A price list for each number of corrections. A model has none at first, and of another its tool states costs.
    private static let prices: [(all: ModelPrices, own: [String: ModelPrice])] = (0...3).map { correction in
        var own: [String: ModelPrice] = [:]
        for (index, name) in names.enumerated() where correction > 0 || index != 2 {
            let rate = Double(1 + (index + 2 * correction) % 5)
            func rates(_ factor: Double) -> ModelPrice.Rates { .init(input: factor * rate, output: factor * rate) }
            own[name] = ModelPrice(
                name: name, standard: .init(rates: rates(1), longContext: [.init(above: 200_000, rates: rates(2))]),
                offPeak: index == 1 ? OffPeak(rates: rates(0.5), hours: "1-5 10:00-24:00, 6-7 00:00-24:00") : nil)
        }
        return (ModelPrices.packaged.replacing(own), own)
    }

    private struct Machine {
        var name: String
        var hasJoined: Bool
        /// How many corrections of prices it knows.
        var correctionCount = 0
        /// By session what its file has now.
        var files: [UInt64: [Request]] = [:]
        /// What was read at any time.
        var known: [UInt64: Request] = [:]
        /// Which cache has that, and on which day the one before was lost.
        var cache: UInt64 = 0
        var lossDay = 0
        var orphans = LedgerOrphans()
        /// What it sees of the store.
        var view: [String: Data] = [:]

        mutating func read() {
            for var request in files.values.joined() where (known[request.id]?.tokens ?? 0) < request.tokens {
                request.prices = correctionCount
                known[request.id] = request
            }
        }
    }

    private(set) var random: SeededGenerator
    private let fault: Fault?
    private var machines: [Machine]
    private var store: [String: Data] = [:]
    private var truth: [UInt64: Request] = [:]
    private var today = Self.start
    private static let start = 20_600
    private var number: UInt64 = 0
    /// That of the machines.
    private let zone: ClockZone
    /// Whether prices are corrected.
    private let hasCorrections: Bool
    private var correctionCount = 0
    private static let names = ["model-a", "model-b", "model-c", "model-d"]
    /// From the first to the last ones of a day, with parts of hours, and some that change.
    static let zones =
        [0, -39_600, -12_600, 20_700, 50_400].map(ClockZone.fixed)
        + ["America/New_York", "Australia/Lord_Howe", "Pacific/Chatham"].compactMap { try? .named($0) }

    init(seed: UInt64, fault: Fault? = nil) {
        random = SeededGenerator(seed: seed)
        self.fault = fault
        machines = (0..<3).map { Machine(name: ["b", "a", "c"][$0], hasJoined: true) }
        machines[2].hasJoined = random.chance(2)
        hasCorrections = random.chance(2)
        zone = random.pick(Self.zones)
    }

    /// Lets the world run, and tells what is not as it was used.
    mutating func run() -> [String] {
        let count = 20 + random.below(60)
        for _ in 0..<count { step() }
        machines[2].hasJoined = true
        for index in machines.indices { machines[index].correctionCount = correctionCount }
        for _ in 0..<3 { exchange() }
        var problems: [String] = []
        let expected = sums(of: truth.values)
        let first = sums(in: machines[0])
        for machine in machines {
            let found = machine.name == machines[0].name ? first : sums(in: machine)
            for key in Set(found.keys).union(expected.keys).sorted() {
                let (used, told) = (expected[key] ?? Sum(), found[key] ?? Sum())
                if !used.agrees(with: told) { problems.append("\(machine.name): \(key): used \(used), told \(told)") }
                if let other = first[key], other != told {
                    problems.append("\(machine.name): \(key): told \(told), but \(machines[0].name) \(other)")
                }
            }
        }
        return problems
    }

    /// What was used in a month or on a day, or what is told of it; costs in 10⁻⁹ US dollars.
    private struct Sum: Equatable {
        var requestCount = 0
        var tokens = 0
        /// As it was told, or the least and the most that it was at any prices.
        var cost = 0...0
        /// At the last prices; nil where not all of it can be.
        var lastCost: Int? = 0

        static func += (sum: inout Sum, other: Sum) {
            sum.requestCount += other.requestCount
            sum.tokens += other.tokens
            sum.cost = sum.cost.lowerBound + other.cost.lowerBound...sum.cost.upperBound + other.cost.upperBound
            sum.lastCost = sum.lastCost.flatMap { cost in other.lastCost.map { cost + $0 } }
        }

        func agrees(with told: Sum) -> Bool {
            requestCount == told.requestCount && tokens == told.tokens
                && cost.contains(told.cost.lowerBound) && lastCost == told.lastCost ?? lastCost
        }
    }

    private mutating func step() {
        let index = random.below(machines.count)
        switch random.below(16) {
        case 0...4: use(index)
        case 13: move(index)
        case 14: growSum(index)
        case 15: loseCache(index)
        case 5: copy(from: index, to: (index + 1 + random.below(2)) % 3)
        case 6: delete(index)
        case 7: restore(index)
        case 8: publish(index, isCurrent: false)
        case 9: receive(index)
        case 10: today += random.below(3)
        case 11: if hasCorrections, random.chance(2) { correctPrices(index) }
        default:
            // What is older is told in another way, by which time all have told what they know.
            for _ in 0..<3 { exchange() }
            let days = [1, 20, 40, 100, 400][random.below(5)]
            // To what is told of whole months a machine that joins adds no other days of their sessions.
            if !machines[2].hasJoined, today + days > Self.start + 300 {
                machines[2].hasJoined = true
                for _ in 0..<3 { exchange() }
            }
            today += days
            if random.chance(2) { exchange() }
        }
    }

    /// Machines get to know of it one after the other.
    private mutating func correctPrices(_ index: Int) {
        if machines[index].correctionCount == correctionCount, correctionCount + 1 < Self.prices.count {
            correctionCount += 1
        }
        machines[index].correctionCount = correctionCount
    }

    /// Where only one machine knows of it: another one cannot know that its copy is of the same request.
    private mutating func move(_ index: Int) {
        machines[index].read()
        let others = machines.indices.filter { $0 != index }
        let movable = machines[index].files.values.joined().filter { request in
            !request.isSum && request.day > today - 20
                && !isOrphaned(request.session, on: request.day...request.day)
                && others.allSatisfy { other in
                    machines[other].known[request.id] == nil
                        && !machines[other].files.values.joined().contains { $0.id == request.id }
                }
        }
        guard isKnownAsAWhole, var request = movable.min(by: { $0.id < $1.id }) else { return }
        machines[index].files[request.session]?.removeAll { $0.id == request.id }
        if random.chance(2) {
            request.quarter = today * 96 + random.below(96)
            request.tokens += 1 + random.below(9)
        } else {
            number += 1
            request.session = Self.session(number)
        }
        truth[request.id] = request
        machines[index].known[request.id] = request
        machines[index].files[request.session, default: []].append(request)
    }

    /// If two machines go on with a copy of a sum, only one could be right.
    private mutating func growSum(_ index: Int) {
        machines[index].read()
        guard machines[index].hasJoined else { return }
        let sums = machines[index].files.values.joined().filter { request in
            // As a sum of a month it does not move any more.
            request.isSum && request.tokens == truth[request.id]?.tokens && request.day > today - 60
                && !isOrphaned(request.session, on: today - 60...today)
        }
        number += 1
        var sum = Request(
            id: SessionDay.hash(number &* 0xBF58_476D_1CE4_E5B9), session: Self.session(number), quarter: 0,
            model: Self.names[random.below(4)], tokens: 0, isSum: true)
        if !random.chance(3), let known = sums.min(by: { $0.id < $1.id }) { sum = known }
        sum.quarter = today * 96 + random.below(96)
        sum.tokens += 1 + random.below(100_000)
        truth[sum.id] = sum
        machines[index].files[sum.session] = [sum]
    }

    private mutating func loseCache(_ index: Int) {
        // What is not known any more keeps its prices, and its requests are not stated one by one if they were not.
        guard !hasCorrections, machines.allSatisfy(\.hasJoined) else { return }
        for _ in 0..<3 { exchange() }
        machines[index].known = [:]
        machines[index].read()
        machines[index].cache += 1
        machines[index].lossDay = today
        exchange()
    }

    private func isOrphaned(_ session: UInt64, on days: ClosedRange<Int>) -> Bool {
        machines.contains { machine in days.contains { machine.orphans.contain(.init(day: $0, session: session)) } }
    }

    /// Otherwise nothing can be added to the day.
    private var isKnownAsAWhole: Bool { !machines.contains { $0.lossDay == today } }

    /// As of a hash.
    private static func session(_ number: UInt64) -> UInt64 {
        SessionDay.hash((number | 1 << 40) &* 0x9E37_79B9_7F4A_7C15)
    }

    private mutating func use(_ index: Int) {
        guard isKnownAsAWhole else { return }
        let known = machines[index].files.filter { !$0.value.contains(where: \.isSum) }.keys.sorted()
        let session: UInt64
        if !known.isEmpty, !random.chance(3) {
            session = known[random.below(known.count)]
        } else {
            number += 1
            session = Self.session(number)
        }
        // What others have told without a machine that joins later, it cannot add to on the same day.
        let earlier = truth.values.filter { $0.session == session && $0.day == today }
        machines[2].read()
        if !machines[2].hasJoined, !earlier.isEmpty,
            index == 2 || earlier.contains(where: { machines[2].known[$0.id] != nil })
        {
            return
        }
        for _ in 0...random.below(4) {
            number += 1
            let request = Request(
                id: SessionDay.hash(number &* 0xBF58_476D_1CE4_E5B9), session: session,
                quarter: today * 96 + random.below(96), model: Self.names[random.below(4)],
                tokens: 2 + random.below(400_000))
            truth[request.id] = request
            machines[index].files[session, default: []].append(request)
        }
    }

    /// A file that is copied may end in the middle of an answer.
    private mutating func copy(from source: Int, to target: Int) {
        // What others have told in part for months, a machine that joins cannot add to.
        guard machines[source].hasJoined else { return }
        machines[target].read()
        let sessions = machines[source].files.keys.sorted()
        let isHome = random.chance(2)
        for session in sessions where isHome || random.chance(3) {
            var file = machines[source].files[session] ?? []
            // If one of two parts of a day is not known any more, the larger one counts.
            let orphans = machines[target].orphans
            if file.contains(where: { orphans.contain(.init(day: $0.day, session: session)) }) { continue }
            // Another day of what others have told for months, a machine that joins does not know to be the same.
            if !machines[target].hasJoined, file.contains(where: \.isSum) { continue }
            if random.chance(3), let last = file.last, !last.isSum {
                file[file.count - 1].tokens = max(1, last.tokens / 2)
            }
            machines[target].files[session] = file
        }
    }

    private mutating func delete(_ index: Int) {
        machines[index].read()
        for session in machines[index].files.keys.sorted() where random.chance(2) {
            machines[index].files[session] = nil
        }
    }

    private mutating func restore(_ index: Int) {
        machines[index].read()
        for (session, file) in machines[index].files {
            machines[index].files[session] = Array(file.prefix(max(1, file.count / 2)))
        }
    }

    private mutating func exchange() {
        for index in machines.indices.shuffled(using: &random) {
            receive(index)
            publish(index, isCurrent: true)
        }
        for index in machines.indices { receive(index) }
    }

    private mutating func receive(_ index: Int) {
        let isOwn = { [name = machines[index].name] (key: String) in LedgerKey(key)?.device == name }
        let own = machines[index].view.filter { isOwn($0.key) }
        machines[index].view = store.filter { !isOwn($0.key) }.merging(own) { $1 }
    }

    private mutating func publish(_ index: Int, isCurrent: Bool) {
        machines[index].read()
        guard machines[index].hasJoined else { return }
        let machine = machines[index]
        var clock = ReportClock(zone: zone)
        var current: [SessionDay.Key: SessionDay] = [:]
        var requests: [SessionDay.Key: [LedgerRequest]] = [:]
        let known = fault == .forgetful ? Array(machine.files.values.joined()) : Array(machine.known.values)
        for request in known.sorted(by: { $0.id < $1.id }) {
            let key = SessionDay.Key(day: request.day, session: request.session)
            var hash = ContentHash(seed: request.id)
            hash.add(UInt64(request.tokens))
            var entry = current[key] ?? SessionDay(key: key, source: "claude", project: "p\(request.session % 5)")
            var line = request.line(
                pricesAfter: fault == .oldPrices ? request.prices ?? 0 : machine.correctionCount,
                slot: SessionDay.hour(ofQuarter: request.quarter, &clock))
            if fault == .noSurcharges { line.surcharge = Surcharge() }
            entry.add(line)
            entry.fingerprint =
                fault == .equalFingerprints ? 1 : SessionDay.hash(entry.fingerprint &+ hash.value)
            current[key] = entry
            let id = fault == .ownIDs ? SessionDay.hash(request.id &+ UInt64(index)) : request.id
            requests[key, default: []].append(LedgerRequest(id: id, line: line))
        }
        current = current.mapValues { entry in
            var entry = entry
            entry.lines.sort()
            return entry
        }
        var publication = LedgerPublication(
            device: machine.name, today: today, zone: zone, isCurrent: isCurrent, stored: LedgerPages(machine.view),
            orphans: machine.orphans)
        let changes = publication.changes(
            current, of: fault == .noOrphans ? 0 : machine.cache, isStated: { _ in fault != .noMoves },
            requests: { contested in
                fault == .noRequests ? [:] : requests.filter { contested.contains($0.key) }
            })
        machines[index].orphans = publication.orphans
        for (key, bytes) in changes {
            var bytes = bytes
            if fault == .noClaims, let value = bytes, var page = LedgerPages([key: value]).pages.values.first {
                page.claims = []
                bytes = Data(page.bytes)
            }
            // Its own pages are always as it has written them.
            machines[index].view[key] = bytes
            store[key] = bytes
        }
    }

    /// By month and project, by month and model, and by day.
    private func sums(of requests: some Sequence<Request>) -> [String: Sum] {
        var sums: [String: Sum] = [:]
        var clock = ReportClock(zone: zone)
        for request in requests {
            let day = clock.day(of: Int64(request.quarter) * TokenBucket.quarter)
            let costs = (0...correctionCount).map(request.cost)
            let sum = Sum(
                requestCount: 1, tokens: request.tokens, cost: (costs.min() ?? 0)...(costs.max() ?? 0),
                lastCost: costs.last)
            for key in ["\(day.month) p\(request.session % 5)", "\(day.month) \(request.model)", "\(day)"] {
                sums[key, default: Sum()] += sum
            }
        }
        return sums
    }

    private func sums(in machine: Machine) -> [String: Sum] {
        var sums: [String: Sum] = [:]
        var prices = LedgerPrices(Self.prices[correctionCount].all)
        func add(_ key: String, _ line: LedgerLine, isOld: Bool = true) {
            var line = line
            let cost = line.amount.cost.ledgerWords[0]
            let isKnown = prices.recalculate(&line)
            let last = line.amount.cost.ledgerWords[0]
            // What is still stated by session has been told again.
            sums[key, default: Sum()] += Sum(
                requestCount: line.amount.requestCount, tokens: line.amount.counts.total,
                cost: cost...cost, lastCost: isKnown || !isOld ? (isOld ? last : cost) : nil)
        }
        let pages = LedgerPages(machine.view).byDevice
        var union = LedgerUnion(pages, zone: zone)
        var clock = ReportClock(zone: zone)
        for entry in union.sessionDays().map({ $0.entry.folded(&clock) }) {
            for line in entry.lines {
                let day = CalendarDay(number: entry.key.day + line.slot)
                add("\(day.month) \(entry.project ?? "")", line, isOld: false)
                add("\(day.month) \(line.model ?? "")", line, isOld: false)
                add("\(day)", line, isOld: false)
            }
        }
        for page in pages.values.joined() {
            for cell in page.cells {
                let day = CalendarDay(number: cell.day)
                add("\(day.month) \(cell.line.model ?? "")", cell.line)
                guard page.detail < .months else { continue }
                add("\(day.month) \(cell.project ?? "")", cell.line)
                add("\(day)", cell.line)
            }
            for cell in page.projects { add("\(CalendarDay(number: cell.day).month) \(cell.project ?? "")", cell.line) }
            for cell in page.days { add("\(CalendarDay(number: cell.day))", cell.line) }
        }
        return sums
    }
}
