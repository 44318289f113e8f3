package import ClockZones
package import Essentials
import SnapshotModels

/// Decides which alerts this machine delivers, and when.
///
/// The machine with the smallest id of those that warn delivers at once. The others wait, each longer than the one
/// before it, and deliver what they then find in nobody's notice. So all of them together deliver an alert once while
/// they can see each other, and at least once otherwise.
///
/// A value without a clock. The caller encodes it after each call that changes it, before it does what the call says.
package struct AlertWatch: Sendable, Equatable, Codable {
    package struct Settings: Sendable, Equatable {
        package var rules: AlertRules
        package var quiet: QuietHours?
        /// Whether this machine delivers whatever the others do.
        package var isIndependent: Bool

        package init(rules: AlertRules = AlertRules(), quiet: QuietHours? = nil, isIndependent: Bool = false) {
            self.rules = rules
            self.quiet = quiet
            self.isIndependent = isIndependent
        }
    }

    /// What is known at one time.
    package struct Input: Sendable {
        /// With the present time and the zone of the quiet hours.
        package var model: ViewModel
        /// By device id, that of this machine included.
        package var notices: [String: AlertNotice]
        /// Seconds on a clock that never steps.
        package var uptime: Double
    }

    package struct Output: Sendable, Equatable {
        /// To be delivered now, one after the other; each is to be answered by `delivered`.
        package var alerts: [Alert] = []
        /// To be written under this machine's key.
        package var notice: AlertNotice?
        /// Seconds after which to ask again, even if nothing has changed; nil for never.
        package var wait: Double?
    }

    private struct Pending: Sendable, Equatable, Codable {
        var alert: Alert
        /// From when on the others are waited for, in seconds of uptime; not kept.
        var since: Double?
        var isHeld = false
        var failureCount = 0
        /// In seconds of uptime; not kept.
        var retryAt: Double?

        private enum CodingKeys: CodingKey { case alert, isHeld, failureCount }
    }

    package let deviceID: String
    private var detector = AlertDetector()
    private var pending: [Pending] = []
    private var deliveredMarks: [AlertMark] = []
    private var heartbeatCount = 0
    // What follows is not kept.
    private var peers = AlertPeers()
    private var wasOnline = false
    private var connectedAt: Double?
    private var expectedAt: Double?
    private var lastPush: Date?
    private var signAt: Double?
    private var written: AlertNotice?

    private enum CodingKeys: String, CodingKey {
        case deviceID, detector, pending
        case deliveredMarks = "told"
        case heartbeatCount = "beat"
    }

    /// Seconds that each machine waits for the one before it: more than a delivery with its retries takes.
    package static let grace = 90.0
    /// After a connection, seconds until what others have delivered is here.
    static let catchUp = 15.0
    /// Being asked so much later than requested, in seconds, means that the machine has slept.
    private static let oversleeping = 30.0
    /// Seconds between two signs of life, while there are other machines that need them.
    package static let heartbeat = 300.0
    private static let pendingLimit = 128
    /// Undelivered alerts are dropped after this, in seconds, unless they are held.
    package static let pendingAge: TimeInterval = 6 * 3_600
    private static let heldAge: TimeInterval = 36 * 3_600

    package init(deviceID: String) { self.deviceID = deviceID.lowercased() }

    package mutating func step(_ input: Input, _ settings: Settings) -> Output {
        noticeConnection(input)
        let now = input.model.now
        for alert in detector.observe(input.model, rules: settings.rules, ownDevice: deviceID) { add(alert) }
        dropCovered(input, settings)
        pending.removeAll { now.timeIntervalSince($0.alert.at) > ($0.isHeld ? Self.heldAge : Self.pendingAge) }
        let zone = input.model.zone
        let quietEnd = settings.quiet.flatMap { quiet in
            quiet.contains(now, offset: zone.secondsFromGMT) ? quiet.end(after: now, offset: zone.secondsFromGMT) : nil
        }
        var output = Output()
        if quietEnd == nil {
            output.alerts = take(input, settings)
        } else {
            for index in pending.indices {
                pending[index].isHeld = true
                pending[index].since = nil
            }
        }
        output.notice = notice(input)
        let due = [
            detector.nextDue(settings.rules).map { $0.timeIntervalSince(now) },
            pending.isEmpty ? nil : quietEnd.map { $0.timeIntervalSince(now) },
            quietEnd != nil
                ? nil
                : pending.map { dueTime(of: $0, input, settings) }.min().map {
                    $0 - input.uptime
                },
            heartbeatDue(input).map { $0 - input.uptime },
        ]
        output.wait = due.compactMap { $0 }.min().map { max($0, 0) }
        expectedAt = output.wait.map { input.uptime + $0 }
        return output
    }

    /// Ends a delivery that `step` asked for. What could not be delivered stays, for another attempt or another
    /// machine.
    package mutating func delivered(_ alert: Alert, succeeded: Bool, uptime: Double) {
        let marks = (alert.events ?? [alert]).map(\.mark)
        if succeeded {
            pending.removeAll { marks.contains($0.alert.mark) }
            deliveredMarks = (deliveredMarks + marks).suffix(AlertNotice.markLimit)
            return
        }
        for index in pending.indices where marks.contains(pending[index].alert.mark) {
            let count = min(pending[index].failureCount, 5)
            pending[index].failureCount = count + 1
            pending[index].retryAt = uptime + 60 * Double(1 << count)
        }
    }

    /// Answers a notice of `step` that could not be written: the next step has it again.
    package mutating func noticeFailed() { (written, signAt) = (nil, nil) }

    /// The notice of a machine that no longer warns; nil if its present one says so.
    package mutating func leave(_ present: AlertNotice?) -> AlertNotice? {
        guard present?.watches == true else { return nil }
        heartbeatCount += 1
        return AlertNotice(watches: false, heartbeat: heartbeatCount, delivered: deliveredMarks)
    }

    private mutating func add(_ alert: Alert) {
        pending.removeAll { alert.mark.covers($0.alert.mark) }
        guard pending.count < Self.pendingLimit else { return }
        pending.append(Pending(alert: alert))
    }

    private mutating func dropCovered(_ input: Input, _ settings: Settings) {
        let others =
            settings.isIndependent
            ? []
            : input.notices.filter { $0.key != deviceID }.flatMap(\.value.delivered)
        let all = deliveredMarks + others
        pending.removeAll { item in all.contains { $0.covers(item.alert.mark) } }
    }

    private mutating func noticeConnection(_ input: Input) {
        // A lost file of this machine's state does not make it repeat itself.
        if deliveredMarks.isEmpty, let own = input.notices[deviceID] {
            deliveredMarks = own.delivered
            heartbeatCount = max(heartbeatCount, own.heartbeat)
        }
        peers.apply(input.notices.filter { $0.key != deviceID }, input.model, uptime: input.uptime)
        let isOnline = input.model.data.link == .online
        let hasSlept = expectedAt.map { input.uptime > $0 + Self.oversleeping } ?? false
        if isOnline, !wasOnline || hasSlept {
            peers.excuse(uptime: input.uptime)
            connectedAt = input.uptime
        }
        wasOnline = isOnline
    }

    /// When this machine delivers an alert, in seconds of uptime.
    private func dueTime(of item: Pending, _ input: Input, _ settings: Settings) -> Double {
        let since = item.since ?? input.uptime
        let retry = item.retryAt ?? since
        // Nobody else delivers what is about this machine, which sees nobody any more.
        if settings.isIndependent || item.alert.kind == .removed { return max(since, retry) }
        let rank = peers.alive(uptime: input.uptime).count { $0 < deviceID }
        let caughtUp = connectedAt.map { $0 + Self.catchUp } ?? since
        return max(since + Double(rank) * Self.grace, retry, caughtUp)
    }

    /// The alerts that are due, what was held as one.
    private mutating func take(_ input: Input, _ settings: Settings) -> [Alert] {
        for index in pending.indices where pending[index].since == nil { pending[index].since = input.uptime }
        let due = pending.filter { dueTime(of: $0, input, settings) <= input.uptime }
        let held = due.filter(\.isHeld).map(\.alert)
        let summary = held.isEmpty ? [] : [Alert.summary(of: held, at: input.model.now)]
        return summary + due.filter { !$0.isHeld }.map(\.alert)
    }

    /// What is to be written so that the others know what was delivered here, and that this machine is alive.
    private mutating func notice(_ input: Input) -> AlertNotice? {
        let own = input.notices[deviceID]
        let push = input.model.devices.first { $0.id?.lowercased() == deviceID }?.lastPush
        if push != lastPush { signAt = input.uptime }
        lastPush = push
        let isNew =
            if let written { written.delivered != deliveredMarks } else {
                own?.watches != true || own?.delivered != deliveredMarks
            }
        let isDue = heartbeatDue(input).map { $0 <= input.uptime } ?? false
        guard isNew || isDue else { return nil }
        signAt = input.uptime
        heartbeatCount += 1
        written = AlertNotice(watches: true, heartbeat: heartbeatCount, delivered: deliveredMarks)
        return written
    }

    /// When the others need a sign of life, in seconds of uptime. A push is one.
    private func heartbeatDue(_ input: Input) -> Double? {
        guard !peers.alive(uptime: input.uptime).isEmpty else { return nil }
        return signAt.map { $0 + Self.heartbeat } ?? input.uptime
    }
}

extension AlertWatch.Input {
    /// - Parameters:
    ///   - values: of a store, under keys for which `isKey` is true; others are ignored.
    ///   - devices: of the account, as for `StoredUsage`.
    package init(
        values: [String: Data], link: UsageData.Link, now: Date, zone: ClockZone,
        uptime: Double, devices: ListedDevices?
    ) {
        let usage = StoredUsage(values: values, decode: SnapshotCodec.decodeWithoutCosts)
        self.init(
            model: ViewModel(data: usage.data(link: link, at: now, devices: devices), now: now, zone: zone),
            notices: AlertNotice.notices(in: values), uptime: uptime)
    }

    /// Whether alerts depend on the value under a key.
    package static func isKey(_ key: String) -> Bool {
        UsageData.isKey(key) || key.hasPrefix(AlertNotice.keyPrefix)
    }
}
