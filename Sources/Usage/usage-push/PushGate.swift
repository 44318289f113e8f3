import ClockZones
import Essentials
import KVStoreEssentials
import UsagePusher
import UsageState

/// Keeps the numbers of all machines for the hooks of agents, beside the pushes of `usage-push --watch`.
struct PushGate: Sendable {
    let sink: StoreSink
    /// This device's id.
    let device: String?
    private let files = GateFiles()

    init(sink: StoreSink, device: String?) {
        self.sink = sink
        self.device = device
    }

    /// Whenever another process or machine has changed something, until the task is cancelled.
    func run() async {
        let changes = sink.store.changes
        keep()
        for await change in changes where change.keys.contains(where: { $0.hasPrefix(AlertNotice.sharedPrefix) }) {
            keep()
        }
    }

    /// Call it after each push, too. Does nothing as long as nobody uses the gate.
    func keep() {
        guard files.isInUse else { return }
        var values: [String: Data] = [:]
        for key in sink.store.keys where UsageData.isKey(key) { values[key] = sink.store.data(forKey: key) }
        let now = Date()
        let data = UsageData(link: .notJoined, values: values, now: now, devices: sink.listedDevices)
        let rules = sink.store.data(forKey: GateRules.storeKey)
        files.keepUsage(GateUsage(data, rules: rules, device: device, now: now).data)
    }
}
