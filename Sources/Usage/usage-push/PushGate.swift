import ClockZones
import Essentials
import KVStoreEssentials
import LocalFiles
import UsagePusher
import UsageState

/// Keeps the numbers of all machines for the hooks of agents, beside the pushes of `usage-push --watch`, and tells the
/// other machines which agents wait here.
struct PushGate: Sendable {
    let sink: StoreSink
    /// This device's id.
    let device: String?
    private let files = GateFiles()

    /// While agents wait: one that is ended changes no file.
    private static let interval = Duration.seconds(10)

    init(sink: StoreSink, device: String?) {
        self.sink = sink
        self.device = device
    }

    /// Whenever another process or machine has changed something, until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await keepAlways() }
            group.addTask { await tellAlways() }
        }
    }

    private func keepAlways() async {
        let changes = sink.store.changes
        keep()
        for await change in changes where change.keys.contains(where: { $0.hasPrefix(AlertNotice.sharedPrefix) }) {
            keep()
        }
    }

    private func tellAlways() async {
        guard let device else { return }
        let key = GateWaits.storeKey(deviceID: device)
        let sessions = WatchedPath(files.sessionDirectory.path)
        let (triggers, trigger) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watching = Task {
            for await _ in SystemFileWatcher().events(for: [sessions]) { trigger.yield() }
            trigger.finish()
        }
        var recheck: Task<Void, Never>?
        for await _ in triggers {
            recheck?.cancel()
            let waits = waits(now: Date())
            // Without room nobody else sees it.
            try? tell(waits.data, forKey: key)
            guard !waits.waits.isEmpty else { continue }
            recheck = Task {
                guard (try? await Task.sleep(for: Self.interval)) != nil else { return }  // Cancelled.
                trigger.yield()
            }
        }
        recheck?.cancel()
        watching.cancel()
    }

    private func tell(_ data: Data?, forKey key: String) throws {
        guard sink.store.data(forKey: key) != data else { return }
        try sink.store.write([key: data.map { .data($0) }])
    }

    private func waits(now: Date) -> GateWaits {
        GateWaits(
            files.sessions().values.compactMap { data in
                guard let note = GateSession(reading: data).last, let waiting = note.isWaiting(now: now) else {
                    return nil
                }
                return GateWaits.Wait(tool: note.tool, limit: waiting.limit, since: note.at, until: waiting.until)
            })
    }

    /// Call it after each push, too. Does nothing as long as nobody uses the gate.
    func keep() {
        guard files.isInUse else { return }
        var values: [String: Data] = [:]
        for key in sink.store.keys where UsageData.isKey(key) { values[key] = sink.store.data(forKey: key) }
        let now = Date()
        let data = UsageData(link: .notJoined, values: values, now: now, devices: sink.listedDevices)
        let rules = sink.store.data(forKey: GateRules.storeKey)
        let usage = GateUsage(data, rules: rules, device: device, now: now)
        files.keepUsage { usage.merged(with: GateUsage(reading: $0), now: now).data }
    }
}

extension GateSession.Note {
    /// Nil if nothing waits, or what waited has been ended.
    fileprivate func isWaiting(now: Date) -> GateSession.Waiting? {
        waiting.flatMap { $0.until > now && kill($0.process, 0) == 0 ? $0 : nil }
    }
}
