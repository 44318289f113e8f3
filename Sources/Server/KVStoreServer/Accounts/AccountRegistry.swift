import KVStoreWire
import Synchronization

/// The accounts whose devices may write, with their limits, as devices.json has them. Safe to call from any thread.
package final class AccountRegistry: Sendable {
    private let accounts = Mutex<[String: Account]?>(nil)

    package init() {}

    func replace(with accounts: [String: Account]) { self.accounts.withLock { $0 = accounts } }

    /// Throws `unauthorized` for an account that is gone, whose devices are gone too: a request that was read before
    /// must not bring back its stores. Until `replace` is called, every account exists.
    func account(_ name: String) throws(Problem) -> Account {
        let found = accounts.withLock { accounts in
            accounts.map { $0[name] } ?? Account(name: name, created: 0)
        }
        guard let found else { throw .unauthorized }
        return found
    }
}
