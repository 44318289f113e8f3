import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import LocalFiles
import SnapshotModels
import TerminalText
import UsagePusher

/// The state of the service with the last push. Pure.
struct PushServiceReport: Encodable {
    var service: ServiceReport
    var lastPush: LastPush
    /// Whether the daemon rejects this machine.
    var isRemoved: Bool

    func lines(now: Date) -> [String] {
        service.lines(
            details: [("last push", lastPushText(at: now))]
                + (isRemoved ? [("account", PushMessages.removed)] : []))
    }

    private func lastPushText(at now: Date) -> String {
        switch lastPush {
        case .none: "none"
        case .unknown(let reason): "unknown: " + reason
        case .snapshot(let snapshot):
            DurationFormatter.age(of: snapshot.syncTimestamp, at: now) + ": " + PushMessages.providers(snapshot)
        }
    }

    private enum CodingKeys: CodingKey {
        case lastPush, isRemoved
    }

    func encode(to encoder: any Encoder) throws {
        try service.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        if isRemoved { try container.encode(true, forKey: .isRemoved) }
        guard case .snapshot(let snapshot) = lastPush else { return }
        try container.encode(snapshot.syncTimestamp, forKey: .lastPush)
    }
}

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
