import Essentials
import KVStoreEssentials
import KVStoreHTTP
import LocalFiles
import SnapshotModels
import UsagePusher

/// This device's newest snapshot in the user's store.
enum LastPush {
    case none
    case unknown(String)
    case snapshot(SyncedUsageSnapshot)

    /// Reads the local replica; creates nothing and does not contact the daemon.
    static func read(_ environment: StoreEnvironment, storeName: String) -> LastPush {
        do {
            let identity = DeviceIdentityFile(dataDirectory: environment.dataDirectory)
            let configuration = try environment.configuration(storeNamed: storeName, isLive: false, isOnline: false)
            guard let id = try identity.read(),
                FileManager.default.fileExists(atPath: configuration.directory)
            else { return .none }
            let store = try UbiquitousKeyValueStore(configuration: configuration)
            defer { store.close() }
            let data = store.data(forKey: SyncedUsageSnapshot.storeKey(deviceID: id))
            return data.flatMap { SnapshotCodec.read($0) }.map { .snapshot($0) } ?? .none
        } catch let error as StoreError {
            return .unknown(error.description)
        } catch let error as FileError {
            return .unknown(error.description)
        } catch {
            return .unknown("\(error)")
        }
    }
}
