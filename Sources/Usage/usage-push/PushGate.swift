import Essentials
import KVStoreEssentials
import LocalFiles
import UsagePusher
import UsageState

/// Writes the usage of all machines for the hooks of agents, beside the pushes of `usage-push --watch`, and publishes
/// which agents are paused on this machine.
struct PushGate: Sendable {
    let sink: StoreSink
    /// This device's id.
    let device: String?
    let files = GateFiles()

    /// Between two checks of paused agents: the end of a killed process changes no file.
    private static let interval = Duration.seconds(10)

    /// Whenever another process or machine has changed something, until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await followStore() }
            group.addTask { await publishWaits() }
        }
    }

    private func followStore() async {
        let changes = sink.store.changes
        updateUsage()
        for await change in changes where change.keys.contains(where: GateUsage.isKey) { updateUsage() }
    }

    private func publishWaits() async {
        guard let device else { return }
        let key = GateWaits.storeKey(deviceID: device)
        let (triggers, trigger) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watching = Task {
            for await _ in SystemFileWatcher().events(for: [WatchedPath(files.sessionDirectory.path)]) {
                trigger.yield()
            }
            trigger.finish()
        }
        var recheck: Task<Void, Never>?
        for await _ in triggers {
            recheck?.cancel()
            let waits = waits(now: Date())
            // In a full store other machines do not see them.
            try? publish(waits.data, forKey: key)
            guard !waits.waits.isEmpty else { continue }
            recheck = Task {
                guard (try? await Task.sleep(for: Self.interval)) != nil else { return }  // Cancelled.
                trigger.yield()
            }
        }
        recheck?.cancel()
        watching.cancel()
    }

    private func publish(_ data: Data?, forKey key: String) throws {
        guard sink.store.data(forKey: key) != data else { return }
        try sink.store.write([key: data.map { .data($0) }])
    }

    private func waits(now: Date) -> GateWaits {
        GateWaits(
            files.sessions().values.compactMap { data in
                guard let note = GateSession(reading: data).last,
                    let waiting = note.waiting(now: now, isRunning: { ProcessID.isRunning($0) })
                else { return nil }
                return GateWaits.Wait(
                    tool: note.tool, limit: waiting.limit, account: waiting.account, since: note.at,
                    until: waiting.until)
            })
    }

    /// Call it after each push and when devices are renamed, too. Does nothing as long as nobody uses the gate.
    func updateUsage() {
        guard files.isInUse else { return }
        files.updateUsage {
            // A damaged log leaves what was read before.
            try? sink.store.refresh()
            return GateUsage(sink.store, devices: sink.listedDevices, device: device).data
        }
    }
}

extension GateUsage {
    init(_ store: UbiquitousKeyValueStore, devices: ListedDevices?, device: String?) {
        let values = store.data(where: Self.isKey)
        let now = Date()
        let data = UsageData(link: .notJoined, values: values, now: now, devices: devices)
        self.init(data, rules: GateRules(stored: values), device: device, now: now)
    }
}
