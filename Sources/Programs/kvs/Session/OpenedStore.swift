import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import KVStoreWire
import TerminalText

/// A store, open for the duration of one command.
struct OpenedStore {
    let store: UbiquitousKeyValueStore
    /// Whether an account has been joined and syncing is allowed.
    let isOnline: Bool
    private let timeout: Duration

    /// How long a read waits for newer values.
    private static let readTimeout = Duration.seconds(2)

    /// Opens the store of the joined account, or the local one. Reports what opening repaired.
    init(name: String, isLive: Bool = false, isLocalOnly: Bool = false, timeoutSeconds: Double) throws(StoreError) {
        timeout = .seconds(timeoutSeconds)
        var configuration = try StoreEnvironment().configuration(
            storeNamed: name, isLive: isLive, isOnline: !isLocalOnly)
        configuration.isWatched = isLive
        store = try UbiquitousKeyValueStore(configuration: configuration)
        isOnline = configuration.transport != nil
        for note in store.status.recoveryNotes { Console.report(note) }
    }

    /// Opens the store without contacting the daemon, to read what this machine has; nil if nothing of the joined
    /// account has been received yet.
    static func received(name: String, timeoutSeconds: Double) throws(StoreError) -> OpenedStore? {
        let opened = try OpenedStore(name: name, isLocalOnly: true, timeoutSeconds: timeoutSeconds)
        if opened.store.status.initialSyncCompleted || !StoreEnvironment().isJoined { return opened }
        opened.store.close()
        return nil
    }

    /// Sends and receives all changes.
    ///
    /// - Parameter limit: how long to wait for the daemon; the command's timeout by default.
    @discardableResult
    func synchronize(within limit: Duration? = nil) async throws(StoreError) -> SyncReport {
        try await store.synchronizeNow(within: limit ?? timeout)
    }

    /// Receives newer values before a read. If the daemon does not answer, reports the age of the local values, or
    /// throws if fresh ones are required.
    func refresh(isRequired: Bool) async throws {
        guard isOnline else {
            if isRequired { throw Self.notJoined }
            return
        }
        do throws(StoreError) {
            try await synchronize(within: isRequired ? timeout : min(timeout, Self.readTimeout))
        } catch {
            if isRequired { throw error }
            Console.report("\(error.reason); showing \(age)")
        }
    }

    /// Downloads the account's values before this machine's first write, so that the write replaces them instead of
    /// yielding to them.
    func prepareWrite() async {
        try? await store.completeInitialSync(within: timeout)  // Later writes yield, as documented.
    }

    /// Flushes and syncs what was written. Reports if the daemon does not accept it, or throws if syncing is
    /// required.
    ///
    /// - Parameter keys: what was written; nil for everything that is pending.
    func finishWrite(isSyncRequired: Bool, of keys: Set<String>? = nil) async throws {
        try store.flush()
        guard isOnline else {
            if isSyncRequired { throw Self.notJoined }
            return
        }
        let failure: CommandFailure
        do throws(StoreError) {
            let report = try await store.sendNow(within: timeout)
            if report.pendingKeyCount == 0 { return }
            // What was refused before says nothing of this write.
            if let keys, report.refusedKeys.count == report.pendingKeyCount, keys.isDisjoint(with: report.refusedKeys) {
                return
            }
            failure = Self.notAccepted(report)
        } catch {
            failure = CommandFailure(
                error.code == .unauthorized ? .noPermission : .temporaryFailure,
                "stored locally, not yet synced: \(error.reason)")
        }
        if isSyncRequired { throw failure }
        Console.report(failure.message)
    }

    static func notAccepted(_ report: SyncReport) -> CommandFailure {
        if let refusal = report.refusal {
            return CommandFailure(
                report.isReadOnly ? .noPermission : .temporaryFailure,
                "stored locally, but not accepted: \(report.refusedKeys.counted); \(refusal)")
        }
        return CommandFailure(
            .temporaryFailure,
            "stored locally, but the daemon has no room for \(report.pendingKeyCount.keys); "
                + "remove some values and run kvs sync")
    }

    static let notJoined = CommandFailure(
        .configuration,
        "cannot sync: no account has been joined, or --no-sync was given; run " + StoreError.rejoining)

    private var age: String {
        guard let milliseconds = store.status.lastSyncMilliseconds else {
            return "local values; nothing has been received yet"
        }
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        return "values received \(DurationFormatter.age(of: date, at: Date()))"
    }
}

extension [String] {
    /// "1 key, a", "12 keys, a, b, c and others".
    var counted: String {
        guard !isEmpty else { return count.keys }
        let names = prefix(8).map { $0.printable(scalarLimit: 128) }.joined(separator: ", ")
        return "\(count.keys), \(names)" + (count > 8 ? " and others" : "")
    }
}

extension Int {
    /// "1 key", "2 keys".
    var keys: String { self == 1 ? "1 key" : "\(self) keys" }
}
