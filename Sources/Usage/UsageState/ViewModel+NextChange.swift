import ClockZones
package import Essentials
import SnapshotModels
import TerminalText

extension ViewModel {
    /// When something said about the same data is said differently: a countdown, an age, a level of freshness or
    /// presence, the day of costs and clock times. Until then every model with these data draws the same.
    ///
    /// Ask again from then on. Nil if nothing ever changes.
    package var nextChange: Date? {
        var dates: [Date] = []
        func add(countdownTo date: Date) {
            if let next = DurationFormatter.nextCountdown(to: date, from: now) { dates.append(next) }
        }
        func add(upcoming date: Date?) {
            guard let date, date > now else { return add(past: date) }
            dates.append(date)
            if !options.isAbsolute { add(countdownTo: date) }
        }
        func add(past date: Date?) {
            if let date, !options.isAbsolute { dates.append(DurationFormatter.nextAge(of: date, at: now)) }
        }
        func add(_ date: Date, thresholds: TimeInterval...) { dates += thresholds.map { date.addingTimeInterval($0) } }
        if let lastSeen = data.link.lastSeen {
            // Shown as an age even where others are clock times.
            dates.append(DurationFormatter.nextAge(of: lastSeen, at: now))
        }
        for provider in providers {
            let snapshot = provider.snapshot
            add(past: snapshot.lastUpdated)
            dates += provider.freshnessByTime.changes.compactMap(\.from)
            add(upcoming: snapshot.budget?.resetsAt)
            for window in provider.windows {
                if window.observedAt < snapshot.lastUpdated {
                    add(past: window.observedAt)
                    dates += provider.freshness(of: window).changes.compactMap(\.from)
                }
                add(upcoming: window.window.resetsAt)
                if let end = window.pace?.runsOutAt { add(countdownTo: end) }
                if let end = window.window.resetsAt, let minutes = window.window.windowMinutes, minutes > 0, end > now {
                    // The tick of an even use moves by whole percent.
                    let step = TimeInterval(minutes) * 60 / 100
                    let left = (end.timeIntervalSince(now) / step).rounded(.up) - 1
                    dates.append(end.addingTimeInterval(-left * step))
                }
            }
        }
        for device in devices {
            add(past: device.lastPush)
            add(device.lastPush, thresholds: DeviceState.activeAge, -SnapshotMerge.clockTolerance)
        }
        dates.append(nextMidnight)
        if let end = order?.marksEnd { dates.append(end) }
        // A moment later, because some thresholds have to be passed.
        return dates.filter { $0 > now }.min()?.addingTimeInterval(0.001)
    }

    private var nextMidnight: Date {
        let offset = TimeInterval(zone.secondsFromGMT(at: now))
        let day = ((now.timeIntervalSince1970 + offset) / 86_400).rounded(.down) + 1
        return Date(timeIntervalSince1970: day * 86_400 - offset)
    }
}
