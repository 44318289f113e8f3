import Dispatch
import KVStoreEssentials
import LocalFiles
import Synchronization

/// Notices `kvs join` and `kvs leave` by a watch on the directory of the credentials file, which is created if it is
/// missing.
///
/// A file that cannot be read changes nothing.
final class CredentialsWatch: Sendable {
    private let environment: StoreEnvironment
    private let former: Credentials?
    private let changed: @Sendable (Credentials?) -> Bool
    private let retry: DispatchTimeInterval
    private let watch = Mutex<(any DirectoryWatch)?>(nil)

    /// Calls `changed`, from any thread but never before this returns, while the credentials are those of another
    /// device than `former`; nil stands for no account.
    ///
    /// - Parameters:
    ///   - retry: when to call it again after it has returned false: the replica of the account could not be opened,
    ///     say.
    init(
        _ environment: StoreEnvironment, since former: Credentials?, retry: DispatchTimeInterval = .seconds(30),
        changed: @escaping @Sendable (Credentials?) -> Bool
    ) {
        self.environment = environment
        self.former = former
        self.retry = retry
        self.changed = changed
        DispatchQueue.global().async { [weak self] in self?.look() }
    }

    private func look() {
        let directory = LocalDirectory(environment.configDirectory)
        watch.withLock { watch in
            try? directory.create()  // watching it fails then
            // A new watch each time, because the directory may be another one by now.
            watch = WatchedDirectory.watch(directory.path) { [weak self] in self?.look() }
        }
        // Half-written: another change follows.
        guard let present = try? Optional.some(environment.credentials()) else { return }
        if let present, let former {
            guard !present.isSameDevice(as: former) else { return }
        } else if present == former {
            return
        }
        if !changed(present) {
            DispatchQueue.global().asyncAfter(deadline: .now() + retry) { [weak self] in
                self?.look()
            }
        }
    }
}

extension StoreEnvironment {
    /// Returns when another account than `former` has been joined or it has been left, or the task is cancelled; nil
    /// stands for no account.
    ///
    /// Stores that are opened with `configuration(storeNamed:isLive:limits:isOnline:timeouts:)` follow by themselves.
    public func waitForAnotherAccount(than former: Credentials?) async {
        let (changes, change) = AsyncStream.makeStream(of: Void.self)
        let watch = CredentialsWatch(self, since: former) { _ in
            change.finish()
            return true
        }
        for await _ in changes {}
        withExtendedLifetime(watch) {}
    }
}
