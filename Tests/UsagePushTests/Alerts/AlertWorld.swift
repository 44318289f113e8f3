import ClockZones
import Foundation
import KVStore
import KVStoreTesting
import StoreTestSupport
import SnapshotModels
@testable import usage_push
import UsageState

/// A workstation that pushes and machines that warn, on real stores in a simulated cloud.
final class AlertWorld {
    struct Delivery {
        var machine: String
        var mark: AlertMark
        var kind: Alert.Kind
        /// True seconds since the beginning.
        var at: Double
    }

    final class Machine {
        let device: CloudDevice
        let id: String
        /// Whether it has tools of its own, whose pushes say that it is alive.
        let pushes: Bool
        var watch: AlertWatch
        var isAlive = true
        var quiet: QuietHours?
        var noticeCount = 0
        fileprivate var seen: [String: Data] = [:]
        fileprivate var link = UsageData.Link.notJoined
        fileprivate var due: Double?
        fileprivate var pushDue = 0.0

        init(_ device: CloudDevice, id: String, pushes: Bool) {
            self.device = device
            self.id = id
            self.pushes = pushes
            watch = AlertWatch(deviceID: id)
        }

        func restart() throws {
            try device.restart(after: .kill)
            watch = try JSONDecoder().decode(AlertWatch.self, from: JSONEncoder().encode(watch))
            (seen, due, link) = ([:], nil, .notJoined)
        }
    }

    let cloud: SimulatedCloud
    private(set) var machines: [Machine] = []
    private(set) var deliveries: [Delivery] = []
    /// What one perfect observer finds worth an alert, with the times.
    private(set) var expected: [(alert: Alert, at: Double)] = []
    var random: SeededGenerator
    /// Called after each look of a machine at its store, before it delivers.
    var beforeDelivery: (Machine) -> Void = { _ in }

    private let workstation: CloudDevice
    private let start: Date
    private var scene = UsageScene()
    private var reference = AlertDetector()
    private var pushDue = 0.0
    private let tick = 10.0

    var rules = AlertRules()

    /// - Parameter pushing: for each machine that warns, whether it has tools of its own.
    init(seed: UInt64, pushing: [Bool] = [true, false, true]) throws {
        cloud = SimulatedCloud(seed: seed)
        random = SeededGenerator(seed: seed)
        workstation = try cloud.device("workstation")
        start = cloud.now
        rules.silence = false
        scene.device = "workstation"
        scene.deviceID = "workstation"
        scene.resetsAt = start + 3_600
        scene.used = 5
        for (number, pushes) in pushing.enumerated() {
            machines.append(
                Machine(
                    try cloud.device("machine \(number)"),
                    id: String(UInt32.random(in: 0 ... .max, using: &random), radix: 16),
                    pushes: pushes))
        }
    }

    /// True seconds since the beginning.
    var seconds: Double { cloud.now.timeIntervalSince(start) }

    /// The one that delivers while all are alive.
    var leader: Machine { machines.filter(\.isAlive).min { $0.id < $1.id } ?? machines[0] }

    func run(minutes: Double, _ each: (Double) throws -> Void = { _ in }) async throws {
        let end = seconds + minutes * 60
        while seconds < end {
            try each(seconds)
            try act()
            for machine in machines where machine.isAlive { try look(machine) }
            await cloud.advance(by: .seconds(tick))
        }
    }

    /// The workstation uses more now and then, and pushes what changes.
    private func act() throws {
        scene.now = cloud.now
        if let reset = scene.resetsAt, reset <= scene.now {
            scene.resetsAt = reset + 3_600
            scene.used = 0
            pushDue = 0
        } else if Int.random(in: 0..<24, using: &random) == 0, scene.used < 100 {
            scene.used = min(100, scene.used + Double.random(in: 1...30, using: &random))
            pushDue = 0
        }
        scene.minutes = 60
        guard seconds >= pushDue else { return }
        pushDue = seconds + 100
        try push(scene.snapshot, by: workstation, id: "workstation")
        let alerts = reference.observe(scene.model, rules: rules, ownDevice: nil)
        expected += alerts.map { ($0, seconds) }
    }

    private func push(_ snapshot: SyncedUsageSnapshot, by device: CloudDevice, id: String) throws {
        try device.store.write(
            .data(SnapshotCodec.encode(snapshot)), forKey: SyncedUsageSnapshot.storeKey(deviceID: id))
    }

    private func look(_ machine: Machine) throws {
        if machine.pushes, seconds >= machine.pushDue {
            machine.pushDue = seconds + 100
            var own = UsageScene(now: machine.device.now)
            (own.device, own.deviceID, own.provider) = (machine.id, machine.id, machine.id)
            try push(own.snapshot, by: machine.device, id: machine.id)
        }
        let store = UserAlertStore(store: machine.device.store, listed: { nil }, isRemoved: { false })
        let values = store.values { $0.hasPrefix(AlertNotice.sharedPrefix) }
        let isDue = machine.due.map { seconds >= $0 } ?? false
        guard values != machine.seen || store.link != machine.link || isDue else { return }
        (machine.seen, machine.link) = (values, store.link)
        while true {
            let settings = AlertWatch.Settings(rules: rules, quiet: machine.quiet)
            let output = machine.watch.step(
                store.input(at: machine.device.now, zone: .fixed(secondsFromGMT: 0), uptime: seconds), settings)
            machine.due = output.wait.map { seconds + $0 }
            if let notice = output.notice {
                machine.noticeCount += 1
                try store.write(notice, deviceID: machine.id)
            }
            beforeDelivery(machine)
            guard !output.alerts.isEmpty, machine.isAlive else { return }
            for alert in output.alerts {
                for event in alert.events ?? [alert] {
                    deliveries.append(Delivery(machine: machine.id, mark: event.mark, kind: alert.kind, at: seconds))
                }
                machine.watch.delivered(alert, succeeded: true, uptime: seconds)
            }
        }
    }

    /// Alerts that had been delivered already.
    var repetitions: [String] {
        deliveries.indices.compactMap { index in
            let delivery = deliveries[index]
            let former = deliveries[..<index].first { $0.mark.covers(delivery.mark) }
            return former.map { "\($0) and \(delivery)" }
        }
    }

    /// What nobody delivered.
    ///
    /// - Parameter delay: seconds that an alert may take; those younger than that are not due yet.
    func missing(delay: Double) -> [String] {
        expected.compactMap { alert, at in
            let isDelivered = deliveries.contains { $0.mark.covers(alert.mark) && $0.at <= at + delay }
            return isDelivered || at + delay > seconds ? nil : "\(alert.mark) at \(at)"
        }
    }

    var report: String {
        "seed of the failure is its argument; leader \(leader.id)\n"
            + deliveries.map { "\($0)" }.joined(separator: "\n")
    }
}
