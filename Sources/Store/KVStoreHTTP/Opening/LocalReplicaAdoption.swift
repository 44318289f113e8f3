import KVStoreEssentials
import LocalFiles
import Essentials

/// The outcome of moving local replicas to an account that has just been joined. Their values are provisional until
/// the first download: where the account has a value, it wins.
///
/// ```swift
/// let adoption = LocalReplicaAdoption.adopt(in: environment, credentials: credentials)
/// for (name, reason) in adoption.failed { print("\(name): \(reason)") }
/// ```
public struct LocalReplicaAdoption: Sendable, Equatable {
    /// Stores whose local replica now belongs to the account, sorted.
    public var moved: [String] = []
    /// Stores that have a local replica and one of the account; both are unchanged. Sorted.
    public var kept: [String] = []
    /// Stores whose replica could not be moved, with the reason.
    public var failed: [String: String] = [:]

    /// Moves the local replicas of all stores to the account, except those without values, which stay and are not
    /// mentioned. Processes that have one open continue with it.
    public static func adopt(in environment: StoreEnvironment, credentials: Credentials) -> LocalReplicaAdoption {
        var result = LocalReplicaAdoption()
        let files = FileManager.default
        let local = environment.accountDirectory(nil)
        let account = environment.accountDirectory(credentials)
        let names = ((try? files.contentsOfDirectory(atPath: local)) ?? [])  // without the directory there are none
            .filter(StoreConfiguration.isValidStoreName).sorted()
        for name in names where ReplicaReading.hasValues(in: local + "/" + name) {
            let target = account + "/" + name
            if files.fileExists(atPath: target) {
                result.kept.append(name)
                continue
            }
            do throws(FileError) {
                try LocalDirectory(account).create()
                guard rename(local + "/" + name, target) == 0 else {
                    throw .current("move", local + "/" + name)
                }
                result.moved.append(name)
            } catch {
                result.failed[name] = error.message
            }
        }
        return result
    }

    /// Moves the replicas back, because the account was not joined; returns the stores whose replica could not be
    /// moved.
    public func revert(in environment: StoreEnvironment, credentials: Credentials) -> [String] {
        moved.filter { name in
            rename(
                environment.accountDirectory(credentials) + "/" + name,
                environment.accountDirectory(nil) + "/" + name) != 0
        }
    }
}
