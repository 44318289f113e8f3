import CommandSupport
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import LinkCore
import LocalFiles

/// The form that the user has chosen for all machines, in a store of the account, or of this machine as long as none has been
/// joined.
struct SyncedPreference: Sendable {
    let environment = StoreEnvironment()

    private static let timeout = Duration.seconds(10)

    /// How far a change has come.
    enum Outcome {
        /// No account has been joined.
        case local
        case synced
        /// Other machines get it later; the text says why.
        case pending(String)
    }

    /// The stored text as this machine has it, nil if there is none. Creates nothing and waits for no network.
    func stored() throws(StoreError) -> String? {
        let directory = environment.replicaDirectory(
            storeNamed: LinkForm.storeName, credentials: try environment.credentials())
        guard FileManager.default.fileExists(atPath: directory) else { return nil }
        let store = try UbiquitousKeyValueStore(
            configuration: environment.configuration(
                storeNamed: LinkForm.storeName, isLive: false, isOnline: false))
        defer { store.close() }
        return store.string(forKey: LinkForm.key)
    }

    /// Sets or removes the form. It is durable on this machine when this returns.
    func set(_ form: LinkForm?) async throws(StoreError) -> Outcome {
        let store = try open()
        defer { store.close() }
        if environment.isJoined, !store.status.initialSyncCompleted {
            // Otherwise the value of the account would replace this one.
            _ = try? await Self.synchronize(store)
        }
        try store.write(form.map { .string($0.rawValue) }, forKey: LinkForm.key)
        try store.flush()
        guard environment.isJoined else { return .local }
        do throws(StoreError) {
            let report = try await Self.synchronize(store)
            if report.pendingKeyCount == 0 { return .synced }
            return .pending(report.refusal ?? "the daemon has not accepted it")
        } catch {
            return .pending(error.reason)
        }
    }

    /// Sends and receives what has changed.
    func synchronize() async throws(StoreError) {
        let store = try open()
        defer { store.close() }
        try await Self.synchronize(store)
    }

    private func open() throws(StoreError) -> UbiquitousKeyValueStore {
        try UbiquitousKeyValueStore.open(
            storeNamed: LinkForm.storeName, isLive: false, environment: environment)
    }

    @discardableResult
    private static func synchronize(
        _ store: UbiquitousKeyValueStore
    ) async throws(StoreError) -> SyncReport {
        let report = try await withDeadline(timeout) { () throws(StoreError) in
            try await store.synchronizeNow()
        }
        guard let report else {
            throw StoreError(
                .unreachable, operation: "synchronize", subject: "store \(LinkForm.storeName)",
                reason: "no answer within 10 s")
        }
        return report
    }
}

extension CommandFailure {
    /// Nil for errors that are neither the store's nor a file's.
    init?(_ error: any Error) {
        switch error {
        case let error as StoreError:
            let status: ExitStatus =
                switch error.code {
                case .unauthorized: .noPermission
                case .unreachable, .refused, .cancelled: .unavailable
                default: .ioError
                }
            self.init(status, error.description)
        case let error as FileError: self.init(.ioError, error.description)
        default: return nil
        }
    }
}
