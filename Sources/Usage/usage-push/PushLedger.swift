import ClockZones
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import LocalFiles
import SnapshotModels
import Synchronization
import UsagePusher
import UsageState

/// Writes what this machine's logs have ever stated into the store `usage-ledger`, beside the pushes.
final class PushLedger: Sendable {
    private struct State {
        /// What is known.
        var usage: TokenUsage?
        /// Whether it has been written, since other machines were asked last.
        var isWritten = false
        /// What all machines used, by the last exchange with them.
        var year: UsageYear?
        /// They remember which repository each directory is of.
        var projects: [LedgerProjects.Disclosure: LedgerProjects] = [:]
        var reported: Set<String> = []
    }

    private let environment: StoreEnvironment
    private let source: SourceEnvironment
    private let deviceID: String
    private let tokens: TokenLedger
    private let prices: ModelPrices
    private let state = Mutex(State())
    private let updates: AsyncStream<Void>
    private let updated: AsyncStream<Void>.Continuation

    /// Between two writes: what is used while an agent works is many small changes.
    private static let interval = Duration.seconds(60)
    /// After which it is seen what other machines have written, although nothing was used here: of a session that went
    /// on there this machine states its requests, and months pass.
    private static let askingInterval = Duration.seconds(1_800)
    /// Between two values of the year for the screens, which all machines write.
    private static let yearInterval: TimeInterval = 600

    private static let failure = "the ledger of past usage is not up to date"

    /// Nil for another home than the user's, and where the user wants none.
    init?(_ builder: SnapshotBuilder, environment: StoreEnvironment, deviceID: String?) {
        guard let deviceID, builder.environment.keepsCache, let costs = builder.tokenLedger,
            LedgerKey(LedgerKey(device: deviceID, day: 0).name) != nil
        else { return nil }
        self.environment = environment
        source = builder.environment
        self.deviceID = deviceID
        (tokens, prices) = costs
        (updates, updated) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Whether some providers' logs have stated anything, or do now.
    func hasUsage(of providers: Set<String>, inLogs: Bool) -> Bool {
        guard let usage = state.withLock({ $0.usage }), !LedgerSettings.read().isOff else { return false }
        return (inLogs ? usage.buckets : usage.keptBuckets).contains {
            providers.contains(usage.session(of: $0).source)
        }
    }

    /// Takes what is known now; returns at once.
    func add(_ usage: TokenUsage) {
        let isNew = state.withLock { state in
            guard usage.keptBuckets != state.usage?.keptBuckets else { return false }
            (state.usage, state.isWritten) = (usage, false)
            return true
        }
        if isNew { updated.yield() }
    }

    /// Writes what is added until the task is cancelled.
    func run(_ sink: StoreSink) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                while (try? await Task.sleep(for: Self.askingInterval)) != nil {  // Cancelled.
                    state.withLock { $0.isWritten = false }
                    updated.yield()
                }
            }
            for await _ in updates {
                await publish(sink.credentials)
                if let year, year.isDue(after: sink.year, interval: Self.yearInterval) { sink.put(year) }
                guard (try? await Task.sleep(for: Self.interval)) != nil else { break }  // Cancelled.
            }
            group.cancelAll()
        }
    }

    /// The cards of budgets, by what other machines had written at the last synchronization, and what is known here;
    /// none before the first.
    func cards(
        of budgets: [Budget], _ rules: ProjectRules, _ credentials: Credentials?
    ) -> [ProviderUsageSnapshot] {
        guard !budgets.isEmpty, !environment.isRemoved(credentials) else { return [] }
        do {
            let store = try environment.openLedger(credentials)
            defer { store.close() }
            let now = Date()
            let synchronized = store.status.lastSyncMilliseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
            guard let current = credentials == nil ? now : synchronized else { return [] }
            let first = BudgetState.firstDay(at: now)
            var values = store.data { LedgerKey($0)?.concerns(daysFrom: first) ?? ForgetRule.isKey($0) }
            var publication = publication(LedgerPages(values), isCurrent: true, at: now)
            var projects = projects(.hashed)
            let usage = state.withLock { $0.usage } ?? TokenUsage()
            for (key, value) in publication.changes(usage, from: first, &projects) { values[key] = value }
            state.withLock { [projects] in $0.projects[.hashed] = projects }
            let pages = LedgerPages(values)
            return BudgetState.cards(
                BudgetState.states(of: budgets, pages, rules, now: now), observedAt: min(current, now))
        } catch {
            report("budgets cannot be updated: \((error as? StoreError)?.reason ?? "\(error)")")
            return []
        }
    }

    /// Writes what is not written, if anything.
    ///
    /// - Parameter isReachable: whether the daemon answers.
    /// - Returns: whether anything has changed in the store.
    @discardableResult
    func publish(_ credentials: Credentials?, isReachable: Bool = true) async -> Bool {
        guard !environment.isRemoved(credentials),
            let usage = state.withLock({ $0.isWritten ? nil : $0.usage }), !usage.keptBuckets.isEmpty
        else { return false }
        do {
            let hasWritten = try await write(usage, credentials, isReachable: isReachable)
            state.withLock { state in
                state.isWritten = state.usage?.keptBuckets == usage.keptBuckets
                state.reported = state.reported.filter { !$0.hasPrefix(Self.failure) }
            }
            return hasWritten
        } catch {
            report("\(Self.failure): \((error as? StoreError)?.reason ?? "\(error)")")
            return false
        }
    }

    /// What all machines used in the last year; nil unless that is known as of now.
    var year: UsageYear? { state.withLock { $0.year } }

    private func publication(_ stored: LedgerPages, isCurrent: Bool, at now: Date) -> LedgerPublication {
        LedgerPublication(
            device: deviceID, today: ClockZone.gmt.day(of: now), zone: .local, isCurrent: isCurrent, stored: stored,
            orphans: LedgerOrphansFile(source).read())
    }

    private func write(_ usage: TokenUsage, _ credentials: Credentials?, isReachable: Bool) async throws -> Bool {
        let store = try environment.openLedger(credentials)
        defer { store.close() }
        // What others have folded meanwhile must not be folded again; without an account there are no others.
        var isCurrent = credentials == nil
        if !isCurrent, isReachable {
            // The newest days are written all the same.
            isCurrent = (try? await store.synchronizeNow(within: StoreEnvironment.briefTimeouts.request)) != nil
        }
        let settings = LedgerSettings.read()
        guard !settings.isOff else { return false }
        var projects = projects(settings.projects)
        let pages = LedgerPages(store.data(where: LedgerKey.isKey))
        for issue in pages.issues + [usage.futureIssue(at: Date())].compactMap(\.self) { report(issue) }
        var publication = publication(pages, isCurrent: isCurrent, at: Date())
        var requests: [SessionDay.Key: [LedgerRequest]]?
        var hasWritten = false
        for (index, ages) in LedgerAges.all.enumerated() {
            publication.ages = ages
            let changes = publication.changes(usage, &projects, copies: tokens.copies) { keys in
                let found = requests ?? tokens.requests(of: keys, prices: prices, zone: .local)
                requests = found
                return found
            }
            for issue in publication.issues { report(issue) }
            // Before what it lets be withdrawn. If it cannot be written, or a crash comes in between, what is not
            // stated stays.
            try? LedgerOrphansFile(source).write(publication.orphans)
            guard !changes.isEmpty else { break }
            do throws(StoreError) {
                try store.write(changes.mapValues { $0.map { .data($0) } })
                hasWritten = true
                if index > 0 { report("the ledger is nearly full: older months have fewer details") }
                break
            } catch {
                guard error.code == .quotaExceeded, index + 1 < LedgerAges.all.count else { throw error }
            }
        }
        try LedgerProjectsFile(source).add(projects.found)
        if settings.projects == .sealed, seal(LedgerProjectsFile(source).read(), in: store, credentials) {
            hasWritten = true
        }
        state.withLock { [projects] in $0.projects[settings.projects] = projects }
        let now = Date()
        if isCurrent, state.withLock({ $0.year.map { now.timeIntervalSince($0.date) >= Self.yearInterval } ?? true }) {
            let year = UsageYear(LedgerPages(store.data(where: LedgerKey.isKey)), at: now)
            state.withLock { $0.year = year }
        }
        if isCurrent, credentials != nil, hasWritten {
            _ = try await store.sendNow(within: StoreEnvironment.briefTimeouts.request)
        }
        return hasWritten
    }

    /// Seals the names of the projects that are in this machine's pages, and returns whether that changed anything.
    private func seal(
        _ names: [String: String], in store: UbiquitousKeyValueStore, _ credentials: Credentials?
    ) -> Bool {
        let own = LedgerPages(store.data { LedgerKey($0)?.device == deviceID })
        let hashes = Set(own.projectKeys.map(LedgerProjects.hash(ofKey:)))
        do {
            return try environment.seal(names.filter { hashes.contains($0.key) }, of: deviceID, in: store, credentials)
        } catch {
            report("names of projects are not shared: \((error as? StoreError)?.description ?? "\(error)")")
            return false
        }
    }

    private func projects(_ disclosure: LedgerProjects.Disclosure) -> LedgerProjects {
        state.withLock { $0.projects[disclosure] }
            ?? LedgerProjects(home: source.home, disclosure: disclosure, known: LedgerProjectsFile(source).read())
    }

    /// Each message once; a failure again after a success.
    private func report(_ text: String) {
        if state.withLock({ $0.reported.insert(text).inserted }) { Console.report(text) }
    }
}
