import Essentials
import KVStoreServer
import OutgoingHTTP

/// Who is sent what, as notifications.json has it:
///
///     { "version": 1,
///       "devices": { "<id>": { "account": "…", "subscriptions": [ as `PushSubscription`, oldest first ] } },
///       "settings": { "<account>": as `NotificationSettings` } }
///
/// Invariant: an endpoint is there once.
struct NotificationTable: Sendable, Equatable, Codable {
    private struct Entry: Sendable, Equatable, Codable {
        var account: String
        var subscriptions: [PushSubscription]
    }

    /// The version of the format; a file has the one of who wrote it.
    private(set) var version = 1
    /// By id.
    private var devices: [String: Entry] = [:]
    private var settings: [String: NotificationSettings] = [:]

    static let subscriptionsPerDevice = 4
    /// All of an account's are sent to at the same time.
    static let subscriptionsPerAccount = 32
    static let subscriptionCount = 256

    init() {}

    func settings(of account: String) -> NotificationSettings { settings[account] ?? NotificationSettings() }

    mutating func set(_ changed: NotificationSettings, of account: String) { settings[account] = changed }

    func subscriptions(ofDevice id: String) -> [PushSubscription] { devices[id]?.subscriptions ?? [] }

    /// The subscriptions of devices that exist and may read the usage of their account, by account.
    func subscriptions(of present: [Device]) -> [String: [PushSubscription]] {
        var found: [String: [PushSubscription]] = [:]
        for device in present where device.mayReadUsage {
            guard let entry = devices[device.id], entry.account == device.account else { continue }
            found[device.account, default: []] += entry.subscriptions
        }
        return found
    }

    /// Adds a subscription, or replaces the one with its endpoint, whoever has it: a browser that was paired again is a
    /// new device. Of too many of one device the oldest is dropped.
    ///
    /// - Returns: false, and nothing has changed, if the account or all of them have too many.
    mutating func add(_ subscription: PushSubscription, for device: Device) -> Bool {
        var changed = self
        changed.remove([subscription.endpoint.url])
        let own = changed.subscriptions(ofDevice: device.id) + [subscription]
        changed.devices[device.id] = Entry(
            account: device.account, subscriptions: own.suffix(Self.subscriptionsPerDevice))
        let entries = changed.devices.values
        let counts = (
            entries.filter { $0.account == device.account }.reduce(0) { $0 + $1.subscriptions.count },
            entries.reduce(0) { $0 + $1.subscriptions.count }
        )
        guard counts.0 <= Self.subscriptionsPerAccount, counts.1 <= Self.subscriptionCount else { return false }
        self = changed
        return true
    }

    mutating func remove(device id: String) { devices[id] = nil }

    mutating func remove(_ endpoints: Set<String>) {
        for id in devices.keys {
            devices[id]?.subscriptions.removeAll { endpoints.contains($0.endpoint.url) }
            if devices[id]?.subscriptions.isEmpty == true { devices[id] = nil }
        }
    }

    /// All accounts that it has something of.
    var accounts: Set<String> { Set(devices.values.map(\.account)).union(settings.keys) }

    /// Removes what belongs to no device that exists, of the accounts whose devices are given.
    mutating func prune(keeping present: [Device], of accounts: Set<String>) {
        let ids = Set(present.map(\.id))
        let inhabited = Set(present.map(\.account))
        devices = devices.filter { ids.contains($0.key) || !accounts.contains($0.value.account) }
        settings = settings.filter { inhabited.contains($0.key) || !accounts.contains($0.key) }
    }
}
