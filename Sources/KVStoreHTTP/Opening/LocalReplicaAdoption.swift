import Foundation
import KVStore

/// What becomes of the values that were stored before an account was joined: a local replica moves to the
/// account, where its values are provisional until the first download.
public struct LocalReplicaAdoption: Sendable, Equatable {
    /// Stores whose local replica is the account's now, sorted.
    public var moved: [String] = []
    /// Stores that have both a local replica and one of the account: both stay as they are, sorted.
    public var kept: [String] = []
    /// Stores whose replica could not be moved, with the system's reason.
    public var failed: [String: String] = [:]

    /// Moves the local replicas of all stores to the account. Processes that have one open go on with it.
    public static func adopt(
        in environment: StoreEnvironment, credentials: Credentials
    ) -> LocalReplicaAdoption {
        var result = LocalReplicaAdoption()
        let files = FileManager.default
        let local = folder(environment, nil)
        let account = folder(environment, credentials)
        let names = ((try? files.contentsOfDirectory(atPath: local)) ?? [])
            .filter(StoreConfiguration.isValidStoreName).sorted()
        for name in names {
            let target = account + "/" + name
            if files.fileExists(atPath: target) {
                result.kept.append(name)
                continue
            }
            do {
                try files.createDirectory(
                    atPath: account, withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
                try files.moveItem(atPath: local + "/" + name, toPath: target)
                result.moved.append(name)
            } catch {
                result.failed[name] = error.localizedDescription
            }
        }
        return result
    }

    private static func folder(_ environment: StoreEnvironment, _ credentials: Credentials?)
        -> String
    {
        let path = environment.replicaDirectory(storeNamed: "x", credentials: credentials)
        return String(path.dropLast(2))
    }
}
