import ClockZones
import Foundation
import LocalFiles
import SQLiteReading
import StoreTestSupport
import Testing

@testable import UsagePusher

/// `UBIQUITY_HISTORIES=COUNT` reads so many histories of each tool, `UBIQUITY_HISTORY_SEED=NUMBER` begins with that
/// one, and `UBIQUITY_HISTORY_TOOL=NAME` takes only those of one tool.
@Suite("Histories whose sums are known", .enabled(if: SQLiteLibrary.installed != nil, "needs SQLite"))
struct HistoryTests {
    static let writers: [any HistoryWriter] = all.filter {
        variable("UBIQUITY_HISTORY_TOOL") ?? $0.testDescription == $0.testDescription
    }
    private static let all: [any HistoryWriter] = [
        ClaudeHistory(), CodexHistory(), CopilotHistory(), OpenCodeHistory(),
        GeminiHistory(), QwenHistory(), KimiHistory(), GrokHistory(), GooseHistory(),
        ClineHistory(tool: .cline), ClineHistory(tool: .roo), ClineHistory(tool: .kilo),
    ]
    private static let first = number("UBIQUITY_HISTORY_SEED") ?? 1
    private static let count = number("UBIQUITY_HISTORIES") ?? 60
    private static let failureLimit = 3
    private static let lineLimit = 12

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name]
    }

    private static func number(_ name: String) -> UInt64? { variable(name).flatMap(UInt64.init) }

    @Test("what is read is what was used, also when it is read while it is written", arguments: writers)
    func sums(_ writer: any HistoryWriter) throws {
        try forEach(writer) { history, home, compare in
            let stages = history.stages()
            for stage in stages {
                try home.write(stage)
                if history.random.chance(1 + stages.count / 3) { _ = home.usage(keepsCache: true) }
            }
            compare(home.usage(keepsCache: true), "in several steps")
            compare(home.usage(keepsCache: true), "without changes")
            compare(home.usage(keepsCache: false), "at once")
        }
    }

    @Test("what was used stays known when its files are deleted, one by one or all", arguments: writers)
    func deletion(_ writer: any HistoryWriter) throws {
        // In Qwen's ledger the sessions' projects are known as long as their chats are there.
        try forEach(writer, ignoringProjects: writer.log is QwenTokens) { history, home, compare in
            // Otherwise what a tool has removed counts.
            guard !history.steps.contains(where: \.isRemoval), history.truth.cutOff == nil else { return }
            let stages = history.stages()
            for (index, stage) in stages.enumerated() {
                try home.write(stage)
                guard history.random.chance(1 + stages.count / 3) else { continue }
                _ = home.kept()
                let later = stages[(index + 1)...].flatMap(\.paths)
                let finished = home.files().filter { name in
                    !later.contains { $0.hasPrefix(name) } && writer.log.isWanted((name as NSString).lastPathComponent)
                }
                if history.random.chance(2), let file = finished.randomElement(using: &history.random) {
                    try home.write(.remove(file))
                }
            }
            compare(home.kept(), "after some deletions")
            for file in home.files() { try home.write(.remove(file)) }
            compare(home.kept(), "after all deletions")
        }
    }

    @Test("what is published while it is written is what was used, by days of any zone, for years", arguments: writers)
    func ledger(_ writer: any HistoryWriter) throws {
        try forEach(writer) { history, home, compare in
            // What was published of a file stays when the file is damaged.
            guard !history.steps.contains(where: \.isRemoval), history.truth.cutOff == nil else { return }
            var ledger = HistoryLedger(zone: history.pick(LedgerWorld.zones))
            let stages = history.stages()
            for stage in stages {
                try home.write(stage)
                if history.random.chance(1 + stages.count / 6) { ledger.publish(home.usage(keepsCache: true)) }
            }
            ledger.publish(home.usage(keepsCache: true))
            compare.problems += ledger.differences(from: history.truth).map { "published: " + $0 }
            for file in home.files() { try home.write(.remove(file)) }
            ledger.publish(home.usage(keepsCache: true))
            try home.loseCache()
            ledger.publish(home.usage(keepsCache: true))
            for age in [60, 150, 600] {
                ledger.publish(home.usage(keepsCache: true), after: age)
                compare.problems += ledger.differences(from: history.truth).map { "after \(age) days: " + $0 }
            }
        }
    }

    /// What readings differ in from the truth.
    private final class Comparison {
        var problems: [String] = []
        private let differences: (TokenUsage) -> [String]

        init(_ differences: @escaping (TokenUsage) -> [String]) { self.differences = differences }

        func callAsFunction(_ usage: TokenUsage, _ manner: String) {
            problems += differences(usage).map { manner + ": " + $0 }
        }
    }

    /// - Parameter body: writes a history into a home, and compares what it reads.
    private func forEach(
        _ writer: any HistoryWriter, ignoringProjects: Bool = false,
        _ body: (inout History, HistoryHome, Comparison) throws -> Void
    ) throws {
        var failureCount = 0
        for seed in Self.first..<Self.first + Self.count {
            var history = History(seed: seed)
            writer.write(&history)
            if ignoringProjects {
                for index in history.truth.requests.indices { history.truth.requests[index].project = nil }
            }
            let home = try HistoryHome(writer.log)
            let (truth, sums) = (history.truth, history.truth.sums)
            let comparison = Comparison { usage in
                var usage = usage
                if ignoringProjects {
                    for index in usage.sessions.indices { usage.sessions[index].project = nil }
                }
                return truth.differences(of: usage, from: sums)
            }
            try body(&history, home, comparison)
            let problems = comparison.problems
            guard !problems.isEmpty else { continue }
            failureCount += 1
            guard failureCount <= Self.failureLimit else { continue }
            home.isKept = Self.count == 1
            Issue.record(
                """
                To see it alone, with its files left in \(home.path), set UBIQUITY_HISTORIES=1 \
                UBIQUITY_HISTORY_SEED=\(seed) UBIQUITY_HISTORY_TOOL=\(writer.testDescription)
                \(problems.prefix(Self.lineLimit).joined(separator: "\n"))
                """)
        }
        #expect(failureCount == 0, "of \(Self.count) histories")
    }
}

/// A home that a history is written into.
private final class HistoryHome {
    var isKept = false
    let path: String
    private let log: any TokenLog
    private var databases: [String: WrittenDatabase] = [:]

    init(_ log: any TokenLog) throws {
        self.log = log
        path =
            FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appendingPathComponent("history-" + UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        databases = [:]
        if !isKept { try? FileManager.default.removeItem(atPath: path) }
    }

    func usage(keepsCache: Bool) -> TokenUsage {
        let environment = environment(keepsCache: keepsCache)
        return TokenLedger(logs: [log], environment: environment).update(in: environment, prices: .packaged)
    }

    /// With what was deleted.
    func kept() -> TokenUsage {
        var usage = usage(keepsCache: true)
        usage.buckets = usage.keptBuckets
        return usage
    }

    func loseCache() throws { try FileManager.default.removeItem(atPath: path + "/.state") }

    private func environment(keepsCache: Bool) -> SourceEnvironment {
        var environment = SourceEnvironment(home: path, variables: ["XDG_STATE_HOME": path + "/.state"])
        environment.monotonicSeconds = { 0 }
        environment.keepsCache = keepsCache
        return environment
    }

    /// The tool's files that are not databases.
    func files() -> [String] {
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        return all.filter { name in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: path + "/" + name, isDirectory: &isDirectory)
                && !isDirectory.boolValue && !name.hasPrefix(".state")
                && !databases.keys.contains(where: name.hasPrefix)
        }.sorted()
    }

    func write(_ step: History.Step) throws {
        switch step {
        case .append(let name, let bytes):
            let file = try made(name)
            if !FileManager.default.fileExists(atPath: file) {
                _ = FileManager.default.createFile(atPath: file, contents: nil)
            }
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
            try handle.seekToEnd()
            try handle.write(contentsOf: bytes)
            try handle.close()
        case .replace(let name, let bytes):
            try bytes.write(to: URL(fileURLWithPath: made(name)), options: .atomic)
        case .move(let name, let target):
            try FileManager.default.moveItem(atPath: path + "/" + name, toPath: made(target))
        case .remove(let name): try FileManager.default.removeItem(atPath: path + "/" + name)
        case .execute(let name, let sql):
            if databases[name] == nil {
                let pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
                databases[name] = try WrittenDatabase(made(name), pragmas)
            }
            try databases[name]?.execute("BEGIN;" + sql + "COMMIT;")
        }
    }

    /// The path of a file whose directory is there.
    private func made(_ name: String) throws -> String {
        let file = path + "/" + name
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        return file
    }
}

/// The past usage that one machine publishes.
private struct HistoryLedger {
    let zone: ClockZone
    /// After everything that was used.
    private var today = 0
    private var store: [String: Data] = [:]
    private var orphans = LedgerOrphans()
    private var projects = LedgerProjects(home: "/", disclosure: .none)

    init(zone: ClockZone) { self.zone = zone }

    mutating func publish(_ usage: TokenUsage, after age: Int = 0) {
        today = max(today, usage.keptBuckets.map { Int($0.key.quarter) / 96 + 1 }.max() ?? 0)
        var publication = LedgerPublication(
            device: "a", today: today + age, zone: zone, stored: LedgerPages(store), orphans: orphans)
        // What is written later may be older.
        if age == 0 { publication.ages = LedgerAges(days: 1_000, projects: 1_000, months: 1_000) }
        for (key, value) in publication.changes(usage, &projects) { store[key] = value }
        orphans = publication.orphans
    }

    func differences(from truth: TrueHistory) -> [String] {
        var clock = ReportClock(zone: zone)
        var sums: [CalendarDay: (used: TrueHistory.Sum, told: TrueHistory.Sum)] = [:]
        for request in truth.requests {
            let day = clock.day(of: request.time)
            sums[day, default: (.init(), .init())].used.requestCount += request.isOfSearchAlone ? 0 : 1
            sums[day, default: (.init(), .init())].used.counts += request.counts
        }
        var ledger = LedgerUsage(LedgerPages(store), zone: zone)
        for bucket in ledger.usage(for: .day, .init(device: { $0 }, project: { $0 })).buckets {
            let day = clock.day(of: bucket.first)
            sums[day, default: (.init(), .init())].told.requestCount += bucket.requestCount
            sums[day, default: (.init(), .init())].told.counts += bucket.counts
        }
        return sums.filter { $0.value.used != $0.value.told }.map {
            "\($0.key): used \($0.value.used.counts), told \($0.value.told.counts)"
        }.sorted()
    }
}

extension History.Step {
    fileprivate var isRemoval: Bool { if case .remove = self { true } else { false } }

    fileprivate var paths: [String] {
        switch self {
        case .append(let path, _), .replace(let path, _), .remove(let path), .execute(let path, _): [path]
        case .move(let path, let target): [path, target]
        }
    }
}

extension History {
    /// The steps, some of them in pieces, as a reading finds them that comes at any time.
    fileprivate mutating func stages() -> [Step] {
        var stages: [Step] = []
        for step in steps {
            guard case .append(let path, let bytes) = step, bytes.count > 1, random.chance(3) else {
                stages.append(step)
                continue
            }
            let place = 1 + random.below(bytes.count - 1)
            stages += [.append(path, bytes.prefix(place)), .append(path, bytes.dropFirst(place))]
        }
        return stages
    }
}
