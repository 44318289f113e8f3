import Commands
import KVStoreEssentials
import KVStoreHTTP

/// Sharing by a command that ends soon. A collector that runs does it instead.
struct Exchange {
    let store: HistoryStore

    /// How long a read waits for newer items, and a change for the daemon.
    private static let limit = Duration.seconds(2)

    /// Whether a command has to share by itself.
    var isNeeded: Bool { store.state.sharedWith != nil && !Collector.isRunning(store.files) }

    /// Receives newer items before a list is read. Without the daemon, says so and goes on.
    func beforeReading() async throws {
        try await exchangeIfNeeded(onRefusal: "not shared: ") {
            "\($0); showing what this machine has"
        }
    }

    /// Receives newer items while a list is shown; returns why that was not possible.
    func whileReading() async -> String? {
        do {
            return try await exchange().map { "\($0.reason); showing what this machine has" }
        } catch {
            return "not shared: \(error)"
        }
    }

    /// Sends a change. It is in the history of this machine already.
    func afterChange() async throws {
        try await exchangeIfNeeded(onRefusal: "stored on this machine, not shared: ") {
            "stored on this machine, not yet shared: \($0)"
        }
    }

    private func exchangeIfNeeded(
        onRefusal refusal: String, onFailure text: (_ reason: String) -> String
    ) async throws {
        guard isNeeded else { return }
        do {
            if let failure = try await exchange() { Console.report(text(failure.reason)) }
        } catch let error as StoreError {
            Console.report(refusal + error.description)
        }
    }

    /// - Returns: why the daemon did not get and give everything.
    @discardableResult
    func exchange(within limit: Duration = limit) async throws -> StoreError? {
        let shared = try SharedHistory(store.files.environment, isLive: false)
        defer { shared.close() }
        guard store.state.sharedWith == shared.accountDirectory else {
            throw StoreError(
                .unauthorized, operation: "share", subject: "the history",
                reason: "this machine has joined another account since",
                hint: "to share it with that one, run \(ProgramName.text) sync on")
        }
        var failure: StoreError?
        do throws(StoreError) { _ = try await shared.synchronize(within: limit) } catch {
            failure = error
        }
        // Those of the account, which may hold more.
        let preferences = SyncedPreferences(environment: store.files.environment)
        if failure == nil { try? await preferences.synchronize() }  // The former ones hold.
        let limits = try ClipSettings.read(preferences).limits
        let problems = try shared.reconcile(store, limits)
        if let text = problems.text { Console.report(text) }
        if failure == nil {
            do throws(StoreError) {
                let report = try await shared.synchronize(within: limit)
                if let refusal = report.refusal {
                    failure = StoreError(.refused, operation: "share", subject: "the history", reason: refusal)
                }
            } catch {
                failure = error
            }
        }
        return failure
    }
}
