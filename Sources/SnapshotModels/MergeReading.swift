import Essentials

/// A device's snapshot and the key that identifies the device.
struct DeviceSnapshot {
    let snapshot: SyncedUsageSnapshot
    /// The device's id; the name when a writer has no id.
    let key: String

    init(_ snapshot: SyncedUsageSnapshot) {
        self.snapshot = snapshot
        key = snapshot.deviceID.map { "id:" + $0.lowercased() } ?? "name:" + snapshot.deviceName
    }

    /// Whether this is the newer of two snapshots of one device. Only a broken writer gives two the
    /// same time; then the content decides, so that the result does not depend on the order.
    func isNewer(than other: DeviceSnapshot) -> Bool {
        if snapshot.syncTimestamp != other.snapshot.syncTimestamp {
            return snapshot.syncTimestamp > other.snapshot.syncTimestamp
        }
        guard snapshot != other.snapshot else { return false }
        return content > other.content
    }

    private var content: String {
        // One that cannot be encoded was not sent by anybody.
        (try? SnapshotCodec.encode(snapshot)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

/// One device's snapshot of one provider account.
struct MergeReading {
    let device: DeviceSnapshot
    let provider: ProviderUsageSnapshot
    let account: Account?
    let plan: Plan?
    let rank: Rank

    init(device: DeviceSnapshot, index: Int, provider: ProviderUsageSnapshot, now: Date) {
        self.device = device
        self.provider = provider
        account = Account(provider.accountEmail)
        plan = Plan(provider)
        let limit = now.addingTimeInterval(SnapshotMerge.clockTolerance)
        rank = Rank(
            hasPlausibleTime: provider.lastUpdated <= limit, time: provider.lastUpdated,
            deviceKey: device.key, index: index)
    }

    /// The order of devices, and of the cards of each.
    static func isBefore(_ left: MergeReading, _ right: MergeReading) -> Bool {
        (left.device.snapshot.deviceName, left.device.key, left.rank.index)
            < (right.device.snapshot.deviceName, right.device.key, right.rank.index)
    }

    /// Whether a window's reset is in the future or unknown.
    func hasLiveWindow(at now: Date) -> Bool {
        provider.windows.contains { !$0.isReset(at: now) }
    }

    /// A total order of the readings of a merge; the greatest is the newest.
    struct Rank: Comparable {
        let hasPlausibleTime: Bool
        let time: Date
        let deviceKey: String
        let index: Int

        static func < (left: Rank, right: Rank) -> Bool {
            if left.hasPlausibleTime != right.hasPlausibleTime { return right.hasPlausibleTime }
            return (left.time, left.deviceKey, left.index) < (right.time, right.deviceKey, right.index)
        }
    }

    /// An account name, compared without regard to case and surrounding space.
    struct Account: Equatable {
        let shown: String
        let key: String

        init?(_ email: String?) {
            guard let shown = email?.trimmed(), !shown.isEmpty else { return nil }
            self.shown = shown
            key = shown.lowercased()
        }
    }
}

extension ProviderUsageSnapshot {
    /// The account's name as the merge compares it; nil without one.
    package var accountKey: String? { MergeReading.Account(accountEmail)?.key }
}
