import Essentials
import SnapshotModels

/// What one device has recorded.
struct DeviceHistory: Sendable, Equatable {
    /// In lower case.
    let deviceID: String
    let history: UsageHistory

    /// Devices whose values are read.
    private static let countLimit = 64

    /// The history of each device in the values of a store.
    static func all(in values: [String: Data]) -> [DeviceHistory] {
        let prefix = UsageHistory.storeKeyPrefix
        let keys = values.keys.filter { $0.hasPrefix(prefix) }.sorted()
        return keys.prefix(countLimit).compactMap { key in
            // What a newer version wrote is not shown here.
            guard let history = values[key].flatMap({ try? HistoryCodec.decode($0) }) else { return nil }
            return DeviceHistory(deviceID: key.dropFirst(prefix.count).lowercased(), history: history)
        }
    }
}

/// Whose the windows are that a device has recorded: a history states no plan, so the account is that of the card that
/// the device shows under the same name now.
struct HistoryAccounts {
    private struct Source: Hashable {
        var deviceID: String
        var providerID: String
        var account: String?
    }

    private var accounts: [Source: Set<String?>] = [:]
    private(set) var separateProviders: Set<String> = []

    init(_ providers: [MergedProvider]) {
        var counts: [String: Int] = [:]
        for provider in providers {
            let id = provider.snapshot.providerID
            counts[id, default: 0] += 1
            for part in provider.parts {
                guard let device = part.deviceID?.lowercased() else { continue }
                let source = Source(deviceID: device, providerID: id, account: part.account)
                accounts[source, default: []].insert(provider.snapshot.accountKey)
            }
        }
        separateProviders = Set(counts.filter { $0.value > 1 }.keys)
    }

    /// The name stays where the device shows two cards under it, since either could be meant.
    func attributed(_ device: DeviceHistory) -> UsageHistory {
        func account(_ identity: WindowIdentity) -> String? {
            let source = Source(deviceID: device.deviceID, providerID: identity.providerID, account: identity.account)
            guard let found = accounts[source], found.count == 1, let only = found.first else {
                return identity.account
            }
            return only
        }
        guard device.history.windows.keys.contains(where: { account($0) != $0.account }) else { return device.history }
        return device.history.attributed { $0.of(account: account($0)) }
    }
}
