package import Essentials
import SnapshotModels

/// Turns one state of usage after the other into alerts.
///
/// - The first reading of a window is its baseline, and then each that is lower. Old ones too, which cause no alert:
///   what they have passed is passed when a reading that counts says so.
/// - A window is that of an account with that label. With another reset it is a new one, of which nothing was used
///   before.
/// - Passing several levels at once is one alert, about the highest. A level is passed again after use has fallen below
///   it by the hysteresis, or in a new window.
/// - A reset is noticed when its time comes, without newer numbers; one that comes early, by them.
/// - Devices are silent only as seen by a machine that has been connected for a while.
///
/// A value without a clock. What it knows survives a restart by being encoded.
package struct AlertDetector: Sendable, Equatable, Codable {
    private var windows: [String: WatchedWindow] = [:]
    private var devices: [String: WatchedDevice] = [:]
    /// When the agents paused at a limit on a machine resume, by the mark's key; nil in a state of an earlier version.
    private var pauses: [String: Date]?
    /// When this machine was seen to be removed, by its seconds since 1970; nil while it is not.
    private var removal: Int?
    /// Not kept: who has just started knows less than it believes.
    private var onlineSince: Date?

    private enum CodingKeys: CodingKey { case windows, devices, pauses, removal }

    /// The most windows, and the most devices; further ones are ignored.
    private static let countLimit = 1_024
    /// After a connection, seconds until what has been missed is here.
    private static let catchUpSeconds: TimeInterval = 60
    /// Seconds by which the ends of pauses at one limit may differ.
    private static let pauseTolerance = 3_600

    package init() {}

    /// - Parameter ownDevice: is never silent here.
    package mutating func observe(_ model: ViewModel, rules: AlertRules, ownDevice: String?) -> [Alert] {
        var alerts: [Alert] = []
        for provider in model.providers {
            var numbers: [String: Int] = [:]
            for state in provider.windows {
                numbers[state.label.text, default: 0] += 1
                guard state.window.usedPercent.isFinite else { continue }
                let freshness = provider.freshness(of: state).value(at: model.now)
                guard let counts = rules.counts(freshness, isEstimate: provider.snapshot.isEstimate) else { continue }
                alerts += observe(
                    state, number: numbers[state.label.text] ?? 1, of: provider,
                    counts: counts && !state.isExpired, rules: rules, now: model.now)
            }
        }
        for key in windows.keys.sorted() {
            if let alert = windows[key]?.pass(model.now, rules: rules) { alerts.append(alert) }
        }
        if let alert = observe(model.data.link, now: model.now) { alerts.append(alert) }
        alerts += observe(
            model.devices.filter { $0.id != ownDevice }, rules: rules, now: model.now,
            isOnline: model.data.link == .online)
        alerts += observe(model.pausedAgents, rules: rules, now: model.now)
        forget(before: model.now.addingTimeInterval(-WatchedWindow.keptDays * 86_400))
        return alerts
    }

    /// When there is something to say without anything having changed; nil if never.
    package func nextDue(_ rules: AlertRules) -> Date? {
        let resets = windows.values.compactMap { $0.resetDue(rules) }
        let silences = onlineSince.map { online in
            devices.values.compactMap(\.silenceDue).map { max($0, online.addingTimeInterval(Self.catchUpSeconds)) }
        }
        return (resets + (rules.silence ? silences ?? [] : [])).min()
    }

    /// - Parameters:
    ///   - number: among the windows with that label.
    ///   - counts: whether the reading may cause alerts.
    private mutating func observe(
        _ state: WindowState, number: Int, of provider: ProviderState, counts: Bool, rules: AlertRules, now: Date
    ) -> [Alert] {
        let snapshot = provider.snapshot
        let identity = AlertMark.hash(
            snapshot.providerID, snapshot.accountEmail?.lowercased() ?? "", state.label.text, "\(number)")
        let reading = WatchedWindow.Reading(
            subject: Alert.Subject(
                providerID: snapshot.providerID.bounded, providerName: snapshot.providerName.bounded,
                account: snapshot.accountEmail?.bounded, window: state.label.text.bounded,
                windowMinutes: state.window.windowMinutes),
            window: state.window, pace: state.pace,
            // Later ones are not to be overtaken by a time in the future.
            observedAt: state.observedAt > now.addingTimeInterval(SnapshotMerge.clockTolerance)
                ? now : state.observedAt,
            counts: counts, levels: rules.levels(provider: snapshot.providerID, window: state.label)
        )
        if let alerts = windows[identity]?.apply(reading, rules: rules, now: now) {
            return alerts
        }
        if windows.count < Self.countLimit { windows[identity] = WatchedWindow(reading, identity: identity) }
        return []
    }

    /// A removal is an alert once.
    private mutating func observe(_ link: UsageData.Link, now: Date) -> Alert? {
        guard link.state == .removed else {
            // Offline it is not known.
            if link.state != .offline { removal = nil }
            return nil
        }
        guard removal == nil else { return nil }
        let instance = now.timeIntervalSince1970.wholeSeconds
        removal = instance
        return Alert(kind: .removed, at: now, mark: AlertMark(key: "removed", instance: instance))
    }

    private mutating func observe(_ states: [DeviceState], rules: AlertRules, now: Date, isOnline: Bool) -> [Alert] {
        onlineSince = isOnline ? onlineSince ?? now : nil
        guard let onlineSince else { return [] }
        let hasCaughtUp = now.timeIntervalSince(onlineSince) >= Self.catchUpSeconds
        var alerts: [Alert] = []
        for state in states.prefix(Self.countLimit) {
            let id = state.id ?? state.name
            var device = devices[id] ?? WatchedDevice(state, now: now)
            device.apply(state, now: now)
            if hasCaughtUp, let alert = device.pass(now, id: id, rules: rules) { alerts.append(alert) }
            devices[id] = device
        }
        let present = Set(states.map { $0.id ?? $0.name })
        devices = devices.filter { present.contains($0.key) }
        return alerts
    }

    /// One alert for all agents that are paused at one limit on one machine.
    private mutating func observe(_ agents: [PausedAgent], rules: AlertRules, now: Date) -> [Alert] {
        var alerts: [Alert] = []
        var present: [String: Date] = [:]
        let groups = Dictionary(grouping: agents.prefix(Self.countLimit)) { agent in
            AlertMark.hash("pause", agent.deviceID, agent.limit, agent.account?.lowercased() ?? "")
        }
        for (key, agents) in groups.sorted(by: { $0.key < $1.key }) {
            guard let first = agents.first, let until = agents.map(\.until).max() else { continue }
            present[key] = until
            let former = pauses?[key] ?? .distantPast
            guard until.timeIntervalSince(former) > Double(Self.pauseTolerance), rules.pauses else { continue }
            var alert = Alert(
                kind: .paused, at: now,
                mark: AlertMark(
                    key: key, instance: until.timeIntervalSince1970.wholeSeconds, tolerance: Self.pauseTolerance))
            alert.device = first.device?.bounded
            alert.pause = Alert.Pause(
                tool: Set(agents.map(\.tool)).count == 1 ? first.tool.bounded : nil, count: agents.count,
                limit: first.limit.bounded, account: first.account?.bounded, until: until)
            alerts.append(alert)
        }
        pauses = present
        return alerts
    }

    private mutating func forget(before time: Date) { windows = windows.filter { $0.value.observedAt > time } }
}

extension String {
    /// Names from outside are kept, and sent to targets.
    fileprivate var bounded: String { String(unicodeScalars.prefix(100)) }
}

extension AlertRules {
    /// Whether a number may cause alerts; nil if it is no baseline either, since it or its time is wrong.
    fileprivate func counts(_ freshness: Freshness, isEstimate: Bool) -> Bool? {
        if isEstimate, !doubts.contains(.estimates) { return nil }
        return switch freshness {
        case .fresh: true
        case .cached: doubts.contains(.cached)
        case .stale: doubts.contains(.stale)
        case .clockAhead: doubts.contains(.stale) ? true : nil
        }
    }
}
