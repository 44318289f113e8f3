import CommandSupport
import Foundation
import KVStore
import KVStoreHTTP
import TerminalText

/// A store for the length of one command.
struct OpenedStore {
    let store: UbiquitousKeyValueStore
    /// Whether an account has been joined and the daemon may be asked.
    let isOnline: Bool
    let timeout: Duration

    /// Opens the joined account's store, or the local one. What opening repaired is told on standard error.
    init(
        name: String, isLive: Bool = false, isLocalOnly: Bool = false, timeoutSeconds: Double
    ) throws(StoreError) {
        timeout = .seconds(timeoutSeconds)
        let configuration = try StoreEnvironment().configuration(
            storeNamed: name, isLive: isLive, isOnline: !isLocalOnly)
        store = try UbiquitousKeyValueStore(configuration: configuration)
        isOnline = configuration.transport != nil
        for note in store.status.recoveryNotes { Console.report(note) }
    }

    /// A read waits no longer than that for what is newer elsewhere.
    static let readTimeout = Duration.seconds(2)

    /// Sends and receives everything.
    func synchronize(within limit: Duration) async throws(StoreError) -> SyncReport {
        let store = store
        let report = try await withDeadline(limit) { () throws(StoreError) in
            try await store.synchronizeNow()
        }
        guard let report else {
            throw StoreError(
                .unreachable, operation: "synchronize",
                subject: "store \(store.configuration.storeName)",
                reason: "no answer within \(limit.formatted(.units(width: .narrow)))")
        }
        return report
    }

    /// Asks the daemon for what is new before a read. Without an answer the replica is read as it is, with a
    /// word on its age; that is an error only where freshness was asked for.
    func refresh(isRequired: Bool) async throws {
        guard isOnline else {
            if isRequired { throw notJoined }
            return
        }
        do throws(StoreError) {
            _ = try await synchronize(within: isRequired ? timeout : min(timeout, Self.readTimeout))
        } catch {
            if isRequired { throw error }
            Console.report("\(error.reason); showing \(age)")
        }
    }

    /// Downloads the account's values before the first write of this machine, so that the write replaces them
    /// instead of giving way to them.
    func prepareWrite() async {
        guard isOnline, !store.status.initialSyncCompleted else { return }
        _ = try? await synchronize(within: timeout)
    }

    /// Makes what was written safe on disk and sends it. An unreachable daemon is a word on standard error, or
    /// an error where sending was asked for.
    func finishWrite(isSyncRequired: Bool) async throws {
        try store.flush()
        guard isOnline else {
            if isSyncRequired { throw notJoined }
            return
        }
        let failure: CommandFailure
        do throws(StoreError) {
            let report = try await synchronize(within: timeout)
            if report.pendingKeyCount == 0 { return }
            failure = CommandFailure(
                .temporaryFailure,
                "stored here, but the daemon does not take \(report.pendingKeyCount) keys for now: "
                    + "remove some values and run kvs sync")
        } catch {
            let status = ExitStatus(error)
            failure = CommandFailure(
                status == .noPermission ? status : .temporaryFailure,
                "stored here, not yet sent: \(error.reason)")
        }
        if isSyncRequired { throw failure }
        Console.report(failure.message)
    }

    private var age: String {
        guard let milliseconds = store.status.lastSyncMilliseconds else {
            return "what is stored here; nothing has been received yet"
        }
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        return "what was received \(DurationFormatter.age(of: date, at: Date()))"
    }

    private var notJoined: CommandFailure {
        CommandFailure(
            .configuration,
            "the daemon cannot be asked: no account has been joined, or --no-sync was given "
                + "(run kvs join URL)")
    }
}
