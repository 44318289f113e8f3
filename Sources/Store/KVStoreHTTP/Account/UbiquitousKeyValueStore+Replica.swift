import Essentials
package import KVStoreEssentials

extension UbiquitousKeyValueStore {
    /// A store of this user as this machine has it, to be closed soon; nil without a replica. Creates nothing, contacts
    /// nobody, and does not watch what other processes write.
    package static func openReplica(
        storeNamed name: String, environment: StoreEnvironment = StoreEnvironment()
    ) throws(StoreError) -> UbiquitousKeyValueStore? {
        var configuration = try environment.configuration(storeNamed: name, isLive: false, isOnline: false)
        guard FileManager.default.fileExists(atPath: configuration.directory) else { return nil }
        configuration.isWatched = false
        return try UbiquitousKeyValueStore(configuration: configuration)
    }
}
