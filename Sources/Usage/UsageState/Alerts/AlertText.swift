package import ClockZones
package import Essentials
import TerminalText

/// An alert in words, one line each. Names from outside are escaped.
package struct AlertText: Sendable {
    package let title: String
    /// Not empty. A summary has a line for each event.
    package let lines: [String]

    package var message: String { lines.joined(separator: "\n") }

    /// Events of a summary that are named, also to programs.
    static let eventLimit = 20

    /// - Parameter zone: that of clock times.
    package init(_ alert: Alert, now: Date, zone: ClockZone) {
        let times = TimeFormatter(now: now, zone: zone, isAbsolute: true)
        title = Self.title(alert)
        if let events = alert.events {
            let more = events.count - Self.eventLimit
            lines =
                events.prefix(Self.eventLimit).map { times.clock($0.at) + "  " + Self.title($0) }
                + (more > 0 ? ["and \(more) more"] : [])
        } else {
            let detail = Self.details(alert, now: now, zone: zone).joined(separator: " · ")
            lines = [detail.isEmpty ? times.clock(alert.at) : detail]
        }
    }

    private static func title(_ alert: Alert) -> String {
        let window = alert.subject.map(name) ?? ""
        switch alert.kind {
        case .threshold:
            return window + ": " + percent(alert.usedPercent ?? alert.threshold) + " used"
        case .reached: return window + ": limit reached"
        case .reset: return window + ": limit reset"
        case .runsOut: return window + ": runs out before its reset"
        case .silent:
            return VisibleText.escape(alert.device ?? "a device") + " has stopped pushing"
        case .paused: return paused(alert)
        case .removed: return "This machine has been removed from the account"
        case .summary:
            let count = alert.events?.count ?? 0
            return count == 1 ? "1 alert during quiet hours" : "\(count) alerts during quiet hours"
        case .test: return "Test alert of usage-push"
        }
    }

    /// "Claude Code is paused on box", "3 agents are paused on box".
    private static func paused(_ alert: Alert) -> String {
        let count = alert.pause?.count ?? 1
        let tool = alert.pause?.tool.map { GateTool(rawValue: $0)?.title ?? VisibleText.escape($0) } ?? "an agent"
        return (count == 1 ? tool + " is" : "\(count) agents are") + " paused on "
            + (alert.device.map(VisibleText.escape) ?? "another machine")
    }

    /// "Claude · Weekly".
    private static func name(_ subject: Alert.Subject) -> String {
        VisibleText.escape(subject.providerName) + " · " + VisibleText.escape(subject.window)
    }

    private static func details(_ alert: Alert, now: Date, zone: ClockZone) -> [String] {
        let (times, relative) = (
            TimeFormatter(now: now, zone: zone, isAbsolute: true), TimeFormatter(now: now, zone: zone)
        )
        func reset(_ date: Date) -> String {
            date > now ? "resets \(relative.upcoming(date)) (\(times.clock(date)))" : times.reset(date)
        }
        let end = alert.runsOutAt.map { end in
            end > now ? "runs out \(relative.upcoming(end)) at this pace" : "may have run out"
        }
        let account = alert.subject?.account.map(VisibleText.escape)
        let details: [String?] =
            switch alert.kind {
            case .threshold: [account, alert.resetsAt.map(reset), end]
            case .reached: [account, alert.resetsAt.map(reset)]
            case .reset: [account, percent(alert.usedPercent) + " had been used"]
            case .runsOut:
                [account, percent(alert.usedPercent) + " used", end, alert.resetsAt.map(reset)]
            case .silent:
                [
                    alert.lastPush.map { "last push at " + times.clock($0) },
                    "there, run: usage-push service status",
                ]
            case .paused:
                [
                    alert.pause?.account.map(VisibleText.escape), alert.pause.map { VisibleText.escape($0.limit) },
                    alert.pause.map { pause in
                        pause.until > now
                            ? "resumes \(relative.upcoming(pause.until)) (\(times.clock(pause.until)))"
                            : "may have resumed"
                    },
                ]
            case .removed:
                ["nothing is shared any more", "here, run: " + UsageData.Link.rejoining]
            case .summary: []
            case .test: ["alerts reach you here"]
            }
        return details.compactMap { $0 }
    }

    private static func percent(_ value: Double?) -> String { AmountFormatter.percent(value ?? 0) }
}

extension Alert {
    package enum Urgency: String, Sendable, Codable {
        case low, normal, high
    }

    package var urgency: Urgency {
        switch kind {
        case .reached, .removed: .high
        case .threshold: (threshold ?? 0) >= 90 ? .high : .normal
        case .runsOut, .silent, .paused, .test: .normal
        case .reset: .low
        case .summary: events?.map(\.urgency).contains(.high) == true ? .high : .normal
        }
    }
}
