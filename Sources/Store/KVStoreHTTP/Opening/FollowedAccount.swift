import Essentials
import KVStoreCore
import KVStoreEssentials
import KVStoreWire
import LocalFiles
import Synchronization

/// The account of a device of an emulator for which a store is open. The emulator may sign the device in to another
/// one, as a person does in the settings of a device.
final class FollowedAccount: Sendable {
    /// A store that is to be opened again for another account.
    private final class Watcher: Sendable {
        private let id: UInt64
        private let account: FollowedAccount
        let change: @Sendable (DeviceAccount) -> Void
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ id: UInt64, _ account: FollowedAccount, _ change: @escaping @Sendable (DeviceAccount) -> Void) {
            self.id = id
            self.account = account
            self.change = change
        }

        deinit {
            task.withLock { $0?.cancel() }
            account.removeWatcher(id)
        }

        func start(_ transport: HTTPSyncTransport) {
            task.withLock { $0 = Task { [account] in await account.follow(transport) } }
        }
    }

    private struct Reference {
        weak var watcher: Watcher?
    }

    private struct State {
        var watchers: [UInt64: Reference] = [:]
        var lastID: UInt64 = 0
    }

    private let account: DeviceAccount
    private let state = Mutex(State())

    init(_ account: DeviceAccount) { self.account = account }

    /// Nil while the device is signed out.
    var name: String? { account.account }

    /// Calls `change` with another account, from any thread, as long as the returned object exists.
    ///
    /// - Parameter transport: asks the emulator, which otherwise reports it only by refusing requests.
    func watch(_ transport: HTTPSyncTransport?, _ change: @escaping @Sendable (DeviceAccount) -> Void) -> any Sendable {
        let watcher = state.withLock { state in
            state.lastID += 1
            let watcher = Watcher(state.lastID, self, change)
            state.watchers[state.lastID] = Reference(watcher: watcher)
            return watcher
        }
        if let transport { watcher.start(transport) }
        return watcher
    }

    /// The emulator has named the account of the device.
    func report(_ name: String?) {
        let present = DeviceAccount(name)
        guard present != account else { return }
        let watchers = state.withLock { $0.watchers.values.compactMap(\.watcher) }
        for watcher in watchers { watcher.change(present) }
    }

    private func removeWatcher(_ id: UInt64) {
        state.withLock { $0.watchers[id] = nil }
    }

    /// Until the task is cancelled, or what answers is not an emulator.
    private func follow(_ transport: HTTPSyncTransport) async {
        var (backoff, random) = (Backoff(), SystemRandomNumberGenerator())
        while !Task.isCancelled {
            do {
                for try await account in transport.accounts {
                    backoff.reset()
                    report(account.account)
                }
            } catch SyncTransportError.refused(400..<500, _, _) {
                return
            } catch SyncTransportError.unauthorized {
                return
            } catch {}
            let wait = backoff.next(atLeast: nil, using: &random)
            guard (try? await Task.sleep(for: .milliseconds(wait))) != nil else { return }  // cancelled
        }
    }
}

/// The account that an emulator has signed a device in to, beside the replicas of the device's first one: the next
/// program begins with the replicas of the same account.
struct EmulatedAccountFile {
    private let directory: String

    /// Not the name of a store.
    private var file: LocalFile { LocalFile(directory + "/.account") }
    private static let byteCount = 4_096

    init(directory: String) { self.directory = directory }

    var account: DeviceAccount {
        guard let content = try? file.read(byteLimit: Self.byteCount),  // without the file: the first one
            // Without the file it is the first one.
            let account = try? WireJSON.decode(DeviceAccount.self, from: content.data)
        else { return .first }
        return account
    }

    func write(_ account: DeviceAccount) throws(FileError) {
        try LocalDirectory(directory).create()
        try file.replace(with: WireJSON.encode(account), durability: .cached)
    }
}

extension DeviceAccount {
    /// The one that a device begins with.
    static let first = DeviceAccount(defaultName)
}
