import ClockZones
import Foundation
import StoreTestSupport

@testable import UsagePusher

/// Machines that use tools, copy, restore and delete logs, and publish what they know, in an order that follows from a
/// seed. What was used is known.
struct LedgerWorld {
    /// What can be wrong at the seams, to see that it is found.
    enum Fault: CaseIterable {
        /// Sessions with other requests look like copies.
        case equalFingerprints
        /// No requests are stated of sessions that several machines have.
        case noRequests
        /// Each machine has its own ids of requests.
        case ownIDs
        /// The cells do not say whose sessions are in them.
        case noClaims
        /// What the files do not state any more is not told.
        case forgetful
    }

    struct Request: Hashable {
        var id: UInt64
        var session: UInt64
        /// Hours since 1970.
        var hour: Int
        var model: String
        var tokens: Int
        var nanodollars: Int

        var line: LedgerLine {
            var line = LedgerLine(slot: hour % 24, model: model)
            line.amount.requestCount = 1
            line.amount.counts.output = tokens
            line.amount.cost = CostSums(ledgerWords: [nanodollars, 0, 0, 0, 0, 0, 0])
            return line
        }
    }

    private struct Machine {
        var name: String
        var hasJoined: Bool
        /// By session what its file has now.
        var files: [UInt64: [Request]] = [:]
        /// What was read at any time.
        var known: [UInt64: Request] = [:]
        /// What it sees of the store.
        var view: [String: Data] = [:]

        mutating func read() {
            for request in files.values.joined() where (known[request.id]?.tokens ?? 0) < request.tokens {
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
    private static let names = ["claude-sonnet-5", "gpt-6", "gemini-3"]

    init(seed: UInt64, fault: Fault? = nil) {
        random = SeededGenerator(seed: seed)
        self.fault = fault
        machines = (0..<3).map { Machine(name: ["b", "a", "c"][$0], hasJoined: true) }
        machines[2].hasJoined = random.chance(2)
    }

    /// Lets the world run, and tells what is not as it was used.
    mutating func run() -> [String] {
        let count = 20 + random.below(60)
        for _ in 0..<count { step() }
        machines[2].hasJoined = true
        for _ in 0..<3 { exchange() }
        var problems: [String] = []
        let expected = sums(of: truth.values)
        for machine in machines {
            let found = sums(in: machine)
            for key in Set(found.keys).union(expected.keys).sorted() where found[key] != expected[key] {
                problems.append(
                    "\(machine.name): \(key): used \(expected[key] ?? [0, 0, 0]), told \(found[key] ?? [0, 0, 0])")
            }
        }
        return problems
    }

    private mutating func step() {
        let index = random.below(machines.count)
        switch random.below(12) {
        case 0...4: use(index)
        case 5: copy(from: index, to: (index + 1 + random.below(2)) % 3)
        case 6: delete(index)
        case 7: restore(index)
        case 8: publish(index, isCurrent: false)
        case 9: receive(index)
        case 10: today += random.below(3)
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

    private mutating func use(_ index: Int) {
        let known = machines[index].files.keys.sorted()
        let session: UInt64
        if !known.isEmpty, !random.chance(3) {
            session = known[random.below(known.count)]
        } else {
            number += 1
            // As of a hash.
            session = SessionDay.hash((number | 1 << 40) &* 0x9E37_79B9_7F4A_7C15)
        }
        // What others have told without a machine that joins later, it cannot add to on the same day.
        let earlier = truth.values.filter { $0.session == session && $0.hour / 24 == today }
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
                hour: today * 24 + random.below(24), model: Self.names[random.below(3)],
                tokens: 2 + random.below(1_000), nanodollars: random.below(1_000_000_000))
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
            if random.chance(3), let last = file.last { file[file.count - 1].tokens = max(1, last.tokens / 2) }
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
        var current: [SessionDay.Key: SessionDay] = [:]
        var requests: [SessionDay.Key: [LedgerRequest]] = [:]
        let known = fault == .forgetful ? Array(machine.files.values.joined()) : Array(machine.known.values)
        for request in known.sorted(by: { $0.id < $1.id }) {
            let key = SessionDay.Key(day: request.hour / 24, session: request.session)
            var hash = ContentHash(seed: request.id)
            hash.add(UInt64(request.tokens))
            var entry = current[key] ?? SessionDay(key: key, source: "claude", project: "p\(request.session % 5)")
            entry.add(request.line)
            entry.fingerprint =
                fault == .equalFingerprints ? 1 : SessionDay.hash(entry.fingerprint &+ hash.value)
            current[key] = entry
            let id = fault == .ownIDs ? SessionDay.hash(request.id &+ UInt64(index)) : request.id
            requests[key, default: []].append(LedgerRequest(id: id, line: request.line))
        }
        current = current.mapValues { entry in
            var entry = entry
            entry.lines.sort()
            return entry
        }
        var publication = LedgerPublication(
            device: machine.name, today: today, zone: .gmt, isCurrent: isCurrent, stored: LedgerPages(machine.view))
        let changes = publication.changes(current) { contested in
            fault == .noRequests ? [:] : requests.filter { contested.contains($0.key) }
        }
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

    /// Requests, tokens and nanodollars by month and project, by month and model, and by day.
    private func sums(of requests: some Sequence<Request>) -> [String: [Int]] {
        var sums: [String: [Int]] = [:]
        for request in requests {
            let day = CalendarDay(number: request.hour / 24)
            for key in ["\(day.month) p\(request.session % 5)", "\(day.month) \(request.model)", "\(day)"] {
                sums[key, default: [0, 0, 0]] = zip(
                    sums[key] ?? [0, 0, 0], [1, request.tokens, request.nanodollars]
                ).map { $0 + $1 }
            }
        }
        return sums
    }

    private func sums(in machine: Machine) -> [String: [Int]] {
        var sums: [String: [Int]] = [:]
        func add(_ key: String, _ amount: UsageAmount) {
            let numbers = [amount.requestCount, amount.counts.total, amount.cost.ledgerWords[0]]
            sums[key] = zip(sums[key] ?? [0, 0, 0], numbers).map { $0 + $1 }
        }
        let pages = LedgerPages(machine.view).byDevice
        var union = LedgerUnion(pages, zone: .gmt)
        for entry in union.sessionDays().map(\.entry) {
            for line in entry.lines {
                let day = CalendarDay(number: entry.key.day + (entry.isFolded ? line.slot : 0))
                add("\(day.month) \(entry.project ?? "")", line.amount)
                add("\(day.month) \(line.model ?? "")", line.amount)
                add("\(day)", line.amount)
            }
        }
        for page in pages.values.joined() {
            for cell in page.cells {
                let day = CalendarDay(number: cell.day)
                add("\(day.month) \(cell.line.model ?? "")", cell.line.amount)
                guard page.detail < .months else { continue }
                add("\(day.month) \(cell.project ?? "")", cell.line.amount)
                add("\(day)", cell.line.amount)
            }
            for cell in page.projects {
                add("\(CalendarDay(number: cell.day).month) \(cell.project ?? "")", cell.line.amount)
            }
            for cell in page.days { add("\(CalendarDay(number: cell.day))", cell.line.amount) }
        }
        return sums
    }
}
