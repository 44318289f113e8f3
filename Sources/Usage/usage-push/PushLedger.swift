import ClockZones
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import LocalFiles
import Synchronization
import UsagePusher

/// Writes what this machine's logs have ever stated into the store `usage-ledger`, beside the pushes.
final class PushLedger: Sendable {
    private struct State {
        /// What has not been written yet.
        var usage: TokenUsage?
        var lastUsage: TokenUsage?
        var reported: String?
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
    private static let timeouts = HTTPTimeouts(connect: .seconds(3), request: .seconds(10))

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

    /// Takes what is known now; returns at once.
    func add(_ usage: TokenUsage) {
        state.withLock { state in
            guard usage.keptBuckets != state.lastUsage?.keptBuckets else { return }
            state.usage = usage
        }
        updated.yield()
    }

    /// Writes what is added until the task is cancelled.
    func run(_ credentials: Credentials?) async {
        for await _ in updates {
            await publish(credentials)
            guard (try? await Task.sleep(for: Self.interval)) != nil else { return }  // Cancelled.
        }
    }

    /// Writes what was added last, if anything.
    func publish(_ credentials: Credentials?) async {
        guard !environment.isRemoved(credentials), let usage = state.withLock({ $0.usage }),
            !usage.keptBuckets.isEmpty
        else { return }
        do {
            try await write(usage, credentials)
            state.withLock { state in
                (state.lastUsage, state.reported) = (usage, nil)
                if state.usage?.keptBuckets == usage.keptBuckets { state.usage = nil }
            }
        } catch {
            report("the ledger of past use is not up to date: \((error as? StoreError)?.reason ?? "\(error)")")
        }
    }

    private func write(_ usage: TokenUsage, _ credentials: Credentials?) async throws {
        let settings = LedgerSettings.read()
        guard !settings.isOff else { return }
        let store = try UbiquitousKeyValueStore(
            configuration: environment.configuration(
                of: credentials, storeNamed: LedgerKey.storeName, isLive: false, timeouts: Self.timeouts))
        defer { store.close() }
        // What others have folded meanwhile must not be folded again; without an account there are no others.
        var isCurrent = credentials == nil
        // What is offline writes the newest days.
        if !isCurrent { isCurrent = (try? await store.synchronizeNow(within: Self.timeouts.request)) != nil }
        var projects = LedgerProjects(home: source.home, disclosure: settings.projects)
        let today = Int(Date().timeIntervalSince1970 / 86_400)
        var publication = LedgerPublication(
            device: deviceID, today: today, zone: .local, isCurrent: isCurrent,
            stored: LedgerKey.pages(of: store.data(where: LedgerKey.isKey)))
        for (key, failure) in publication.unreadable.sorted(by: { $0.key.name < $1.key.name }) {
            report("\(LedgerKey.storeName): \(key.name) \(failure.text)")
        }
        var requests: [SessionDay.Key: [LedgerRequest]]?
        var hasWritten = false
        for (index, ages) in LedgerAges.all.enumerated() {
            publication.ages = ages
            let changes = publication.changes(usage, &projects) { keys in
                let found = requests ?? tokens.requests(of: keys, prices: prices)
                requests = found
                return found
            }
            guard !changes.isEmpty else { break }
            do throws(StoreError) {
                try store.write(
                    Dictionary(
                        changes.map { key, bytes in (key.name, bytes.map { .data(Data($0)) }) },
                        uniquingKeysWith: { $1 }))
                hasWritten = true
                if index > 0 { report("the ledger is nearly full: older months have fewer details") }
                break
            } catch {
                guard error.code == .quotaExceeded, index + 1 < LedgerAges.all.count else { throw error }
            }
        }
        try LedgerProjectsFile(source).add(projects.names)
        if isCurrent, credentials != nil, hasWritten { _ = try await store.sendNow(within: Self.timeouts.request) }
    }

    /// Each message once.
    private func report(_ text: String) {
        let isNew = state.withLock { state in
            defer { state.reported = text }
            return state.reported != text
        }
        if isNew { Console.report(text) }
    }
}
