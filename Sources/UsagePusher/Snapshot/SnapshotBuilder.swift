public import Essentials
public import SnapshotModels

/// Reads the sources and builds this device's snapshot from their readings.
///
/// Keeps the last reading of every source, so that only sources whose files changed need to be read again.
///
/// ```swift
/// var builder = SnapshotBuilder(
///     sources: UsageSources.all, environment: SourceEnvironment(home: home),
///     device: DeviceIdentity(id: nil, name: "desk"))
/// builder.readAll(at: now)
/// if let snapshot = builder.snapshot(at: now) { print(snapshot.providers.map(\.providerName)) }
/// ```
public struct SnapshotBuilder: Sendable {
    /// One source and its last reading.
    public struct Report: Sendable, Equatable {
        public var providerID: String
        public var providerName: String
        /// Nil before the first read.
        public var reading: SourceReading?
    }

    private var sources: [any UsageSource]
    /// In the order of the sources.
    private var paces: [ReadPace]
    /// Its accounts follow what is read.
    public private(set) var environment: SourceEnvironment
    package var device: DeviceIdentity
    private let appVersion: String?
    private var accountsFile: AccountHistoryFile?
    private var savedAccounts = AccountHistory()
    /// Nil without costs.
    private(set) var costs: TokenTracker?
    /// In the order of the sources.
    public private(set) var reports: [Report]

    public init(
        sources: [any UsageSource], environment: SourceEnvironment, device: DeviceIdentity, appVersion: String? = nil
    ) {
        self.sources = sources
        paces = sources.map { ReadPace(interval: $0.readInterval) }
        self.environment = environment
        self.device = device
        self.appVersion = appVersion
        reports = sources.map { Report(providerID: $0.providerID, providerName: $0.providerName) }
    }

    /// The paths to watch for all sources, each once.
    public var watchedPaths: [WatchedPath] {
        var seen: Set<WatchedPath> = []
        return sources.flatMap { $0.watchedPaths(in: environment) }.filter {
            seen.insert($0).inserted
        }
    }

    /// Continues the account history of a file, and saves it there when another account is found, and with every
    /// complete read.
    package mutating func rememberAccounts(in file: AccountHistoryFile) {
        environment.accounts = file.read()
        savedAccounts = environment.accounts
        accountsFile = file
    }

    /// From now on snapshots have the costs of the sources' tokens, by these prices, as of the last `updateCosts`.
    package mutating func includeCosts(prices: ModelPrices) {
        // All tools, also for a snapshot of some: a cache is of all or none.
        costs = TokenTracker(ledger: TokenLedger(in: environment), prices: prices)
    }

    /// Where the costs are from; nil without any.
    package var tokenLedger: (TokenLedger, ModelPrices)? { costs.map { ($0.ledger, $0.prices) } }

    /// From now on this gets all that is known of tokens, with each update of the costs, and returns the cards of
    /// budgets.
    package mutating func followTokens(_ body: @escaping @Sendable (TokenUsage) -> [ProviderUsageSnapshot]) {
        costs?.onUpdate = body
    }

    /// From now on snapshots have these cards of budgets.
    package mutating func adoptBudgets(_ cards: [ProviderUsageSnapshot]) { costs?.budgets = cards }

    /// From now on readings tell what they considered.
    package mutating func explainsReadings() { environment.explains = true }

    /// Reads all sources.
    public mutating func readAll(at now: Date) {
        for index in sources.indices { read(index, at: now) }
        saveAccounts()
    }

    /// Brings the costs up to date. Stops after some seconds; the next call goes on.
    package mutating func updateCosts(at now: Date) {
        costs = costs?.updated(in: environment, at: now)
    }

    /// From now on snapshots have these costs.
    mutating func adoptCosts(_ updated: TokenTracker) { costs = updated }

    /// The runs of the plug-ins that are read; nil when none is enabled.
    package var pluginRuns: PluginRuns? {
        reports.contains { $0.providerID == PluginsSource.id } && !environment.plugins.isEmpty
            ? PluginRuns(environment) : nil
    }

    /// Asks Codex itself, if the user has allowed it; nil unless its files in the user's own home are read.
    package var asking: CodexAsking? {
        accountsFile != nil && reports.contains { $0.providerID == CodexAsking.id } ? CodexAsking(environment) : nil
    }

    /// Whether a limit ended the last read of a source early; the next one goes on there.
    public var isPartial: Bool { reports.contains { $0.reading?.isPartial == true } }

    /// What is missing of one tool.
    public struct Gap: Sendable, Equatable {
        public var providerName: String
        /// "/path: cannot be read: permission denied; check its owner and mode".
        public var reason: String
    }

    /// The tools of which not everything has been read, limits or tokens.
    public var gaps: [Gap] {
        reports.compactMap { report in
            let reason = report.reading?.issues.reason ?? costs?.usage?.gap(of: report.providerID)
            return reason.map { Gap(providerName: report.providerName, reason: $0) }
        }
    }

    /// How many reads in a row follow one that a limit ended early. A limit on directory entries ends every read.
    static let sliceLimit = 16

    /// Reads all sources, goes on where a limit ends a read early, and updates the costs.
    public mutating func readThoroughly(at now: Date) {
        readAll(at: now)
        for _ in 1..<Self.sliceLimit where isPartial {
            _ = read(changed: unfinishedPaths, at: now, keepsPace: false)
        }
        updateCosts(at: now)
        saveAccounts()
    }

    /// The paths of the sources whose last read ended early.
    var unfinishedPaths: Set<WatchedPath> {
        var paths: Set<WatchedPath> = []
        for index in sources.indices where reports[index].reading?.isPartial == true {
            paths.formUnion(sources[index].watchedPaths(in: environment))
        }
        return paths
    }

    /// What is to be read later, since it was read a moment ago.
    public struct Postponed: Sendable, Equatable {
        public var paths: Set<WatchedPath> = []
        /// Until the first of them may be read.
        public var seconds = Double.infinity
    }

    /// Reads the sources that watch one of the paths, except those for which that is too early; nil when there are
    /// none.
    @discardableResult
    public mutating func read(changed paths: Set<WatchedPath>, at now: Date) -> Postponed? {
        read(changed: paths, at: now, keepsPace: true)
    }

    private mutating func read(changed paths: Set<WatchedPath>, at now: Date, keepsPace: Bool) -> Postponed? {
        var postponed = Postponed()
        for index in sources.indices {
            let changed = paths.intersection(sources[index].watchedPaths(in: environment))
            guard !changed.isEmpty else { continue }
            let seconds = keepsPace ? paces[index].wait(at: environment.monotonicSeconds()) : 0
            if seconds > 0 {
                postponed.paths.formUnion(changed)
                postponed.seconds = min(postponed.seconds, seconds)
            } else {
                read(index, at: now)
            }
        }
        if !environment.accounts.hasSameLogins(as: savedAccounts) { saveAccounts() }
        return postponed.paths.isEmpty ? nil : postponed
    }

    /// If this fails (a full disk), the next complete read tries again.
    private mutating func saveAccounts() {
        guard let accountsFile, environment.accounts != savedAccounts else { return }
        // The next pass tries again.
        guard (try? accountsFile.write(environment.accounts)) != nil else { return }
        savedAccounts = environment.accounts
    }

    private mutating func read(_ index: Int, at now: Date) {
        paces[index].read(at: environment.monotonicSeconds())
        let reading = sources[index].read(in: environment, at: now)
        environment.accounts = reading.accounts ?? environment.accounts
        reports[index].reading = reading
    }

    /// The snapshot of the last readings; nil when no source knows anything.
    public func snapshot(at now: Date) -> SyncedUsageSnapshot? {
        // A card of a plug-in may be about an account that another source, or another plug-in, knows too.
        let sources = reports.flatMap { report in
            let cards = report.reading?.providers ?? []
            return report.providerID == PluginsSource.id ? cards.map { [$0] } : [cards]
        }
        var providers = SnapshotMerge.mergeSources(sources, now: now)
        if let costs {
            let names = Dictionary(reports.map { ($0.providerID, $0.providerName) }, uniquingKeysWith: { $1 })
            providers = costs.adding(costsTo: providers, names: names, at: now)
        }
        providers = providers.map { SnapshotBounds.bounded($0, at: now) }
        guard !providers.isEmpty else { return nil }
        return SyncedUsageSnapshot(
            providers: providers, syncTimestamp: now, deviceName: device.name,
            deviceID: device.id, appVersion: appVersion, daemonDeviceID: device.daemonID
        ).normalized()
    }
}
