import ClockZones
import Essentials
import SnapshotModels
import TerminalText
import UsageState

/// What the live viewer reads: the usage, and the store that it is in.
struct LiveData: Sendable, Equatable {
    /// The account that this machine has joined.
    struct Account: Sendable, Equatable {
        var name: String
        var daemon: String
        /// The name of this machine in it.
        var device: String
        /// Whether environment variables name it, so that it cannot be left.
        var isFromEnvironment: Bool
    }

    /// A key of the store with its value.
    struct StoredKey: Sendable, Equatable {
        var key: String
        var bytes: Data
        /// By the clock that all devices share.
        var setAt: Date
        var stamp: String
        /// The id of the replica that wrote it.
        var writer: String
        /// The device that pushes with that id; nil for other writers.
        var device: String?
        /// Whether that is this machine's.
        var isOwn: Bool
        /// Since the viewer has been open.
        var changeCount = 0
        var changedAt: Date?
    }

    var usage: UsageData
    var account: Account?
    var server = KnownDevices.notAsked
    /// In the order of the store.
    var keys: [StoredKey] = []
    var series: [PlotSeries] = []
}

extension LiveData {
    /// Names the writers: a device that pushes is the writer of its own snapshot. What is set over HTTP has the id of
    /// the daemon, which may have pushed for several.
    mutating func nameWriters() {
        let pushed = (usage.usage?.devices ?? []).compactMap { device -> (String, String?)? in
            guard let id = device.deviceID else { return nil }
            let key = SyncedUsageSnapshot.storeKey(deviceID: id)
            return keys.first { $0.key == key }.map { ($0.writer, device.name) }
        }
        let names = Dictionary(pushed, uniquingKeysWith: { _, _ in nil })
        for index in keys.indices { keys[index].device = names[keys[index].writer] ?? nil }
    }
}

/// Everything a live screen is drawn from, but the state of the window.
struct LiveModel: Sendable {
    let data: LiveData
    let usage: ViewModel

    init(_ data: LiveData, now: Date, zone: ClockZone, options: ViewOptions, keeping order: UsageOrder? = nil) {
        self.data = data
        usage = ViewModel(data: data.usage, now: now, zone: zone, options: options, keeping: order)
    }

    var times: TimeFormatter { usage.times }

    /// See `ViewModel.nextChange`; also of the ages of keys and devices.
    var nextChange: Date? {
        guard !usage.options.isAbsolute else { return usage.nextChange }
        var dates = data.keys.flatMap { [$0.setAt, $0.changedAt] }
        dates += data.server.devices.map(\.lastSeen)
        let ages = dates.compactMap { $0 }.map { DurationFormatter.nextAge(of: $0, at: usage.now) }
        return (ages + [usage.nextChange].compactMap { $0 }).min()
    }
}

extension LiveData {
    /// The same with invented names, and no values.
    var redacted: LiveData {
        let redaction = Redaction(usage)
        var data = self
        data.usage = usage.redacted
        data.account = account.map {
            Account(
                name: redaction.account($0.name), daemon: "https://kvs.example.test",
                device: redaction.device($0.device), isFromEnvironment: $0.isFromEnvironment)
        }
        data.server.devices = server.devices.map { device in
            var device = device
            device.name = redaction.device(device.name)
            device.id = Redaction.id(device.id)
            return device
        }
        data.keys = keys.enumerated().map { index, key in
            var key = key
            key.key = "key \(index + 1)"
            key.bytes = Data("(redacted)".utf8)
            return key
        }
        data.series = series.map { series in
            var series = series
            series.account = series.account.map(redaction.account)
            return series
        }
        return data
    }
}
