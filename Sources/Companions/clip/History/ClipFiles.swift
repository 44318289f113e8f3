import Essentials
import KVStoreEssentials
import KVStoreHTTP
import LocalFiles

/// Where this machine's history and what belongs to it are: a private directory beside the replicas of stores.
struct ClipFiles: Sendable {
    let environment: StoreEnvironment

    init(environment: StoreEnvironment = StoreEnvironment()) { self.environment = environment }

    var directory: String { environment.dataDirectory + "/clip" }

    /// The directory of the store with the history of this machine.
    var history: String { directory + "/history" }

    /// Locked by whoever changes the history.
    var lock: LocalFile { LocalFile(directory + "/history") }

    /// Locked by the collector as long as it runs.
    var collector: LocalFile { LocalFile(directory + "/collector") }

    /// Contents that are too large for the history.
    var contents: LocalDirectory { LocalDirectory(directory + "/contents") }

    var settings: SettingsFile<DeviceSettings> { SettingsFile(environment.configDirectory + "/clip.json") }
}
