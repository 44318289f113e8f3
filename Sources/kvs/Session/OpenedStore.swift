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
            storeNamed: name, isLive: isLive, isOnline: !isLocalOnly,
            timeouts: HTTPTimeouts(limit: timeout))
        store = try UbiquitousKeyValueStore(configuration: configuration)
        isOnline = configuration.transport != nil
        for note in store.status.recoveryNotes { Console.report(note) }
    }

    /// A read waits no longer than that for what is newer elsewhere.
    static let readTimeout = Duration.seconds(2)

    /// A whole round trip, for as long as `limit`.
    func synchronize(within limit: Duration) async -> Result<SyncReport, StoreError> {
        let (results, answer) = AsyncStream<Result<SyncReport, StoreError>>.makeStream()
        let store = store
        let round = Task {
            do throws(StoreError) {
                answer.yield(.success(try await store.synchronizeNow()))
            } catch {
                answer.yield(.failure(error))
            }
        }
        let deadline = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            answer.yield(
                .failure(
                    StoreError(
                        .unreachable, operation: "synchronize",
                        subject: "store \(store.configuration.storeName)",
                        reason: "no answer within \(limit.formatted(.units(width: .narrow)))")))
        }
        defer {
            round.cancel()
            deadline.cancel()
        }
        var iterator = results.makeAsyncIterator()
        return await iterator.next() ?? .success(SyncReport())
    }

    /// Asks the daemon for what is new before a read. Without an answer the replica is read as it is, with a
    /// word on its age; that is an error only where freshness was asked for.
    func refresh(isRequired: Bool) async throws {
        guard isOnline else {
            if isRequired { throw notJoined }
            return
        }
        let limit = isRequired ? timeout : min(timeout, Self.readTimeout)
        guard case .failure(let error) = await synchronize(within: limit) else { return }
        if isRequired { throw CommandFailure(error) }
        Console.report("\(error.reason); showing \(age)")
    }

    /// Downloads the account's values before the first write of this machine, so that the write replaces them
    /// instead of giving way to them.
    func prepareWrite() async {
        guard isOnline, !store.status.initialSyncCompleted else { return }
        _ = await synchronize(within: timeout)
    }

    /// Makes what was written safe on disk and sends it. An unreachable daemon is a word on standard error, or
    /// an error where sending was asked for.
    func finishWrite(isSyncRequired: Bool) async throws {
        try store.flush()
        guard isOnline else {
            if isSyncRequired { throw notJoined }
            return
        }
        switch await synchronize(within: timeout) {
        case .failure(let error):
            let message = "stored here, not yet sent: \(error.reason)"
            if isSyncRequired {
                let status = ExitStatus(error)
                throw CommandFailure(status == .noPermission ? status : .temporaryFailure, message)
            }
            Console.report(message)
        case .success(let report) where report.pendingKeyCount > 0:
            let message =
                "stored here, but the daemon does not take \(report.pendingKeyCount) keys for now: "
                + "remove some values and run kvs sync"
            if isSyncRequired { throw CommandFailure(.temporaryFailure, message) }
            Console.report(message)
        case .success: break
        }
    }

    private var age: String {
        guard let milliseconds = store.status.lastSyncMilliseconds else {
            return "what is stored here; nothing has been received yet"
        }
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        return "what was received \(DurationWords.age(of: date, at: Date()))"
    }

    private var notJoined: CommandFailure {
        CommandFailure(
            .configuration,
            "the daemon cannot be asked: no account has been joined, or --no-sync was given "
                + "(run kvs join URL)")
    }
}

extension HTTPTimeouts {
    /// For one command: nothing takes longer than `limit`.
    init(limit: Duration) {
        self.init(connect: min(.seconds(5), limit), request: limit)
    }
}
