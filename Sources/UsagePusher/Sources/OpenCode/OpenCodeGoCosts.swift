import Essentials

/// What the requests to OpenCode Go have cost, and how much of its limits that is.
///
/// OpenCode Go counts dollars in a window of five hours, in a week from Monday and in a month from the first request.
/// [steipete/CodexBar OpenCodeGoLocalUsageReader.swift]
struct OpenCodeGoCosts: Sendable, Equatable {
    private struct Cost: Equatable {
        /// Milliseconds since 1970.
        var time: Int64
        /// In US dollars.
        var amount: Double
        /// The message, of a step.
        var message: UInt64?
    }

    private static let provider = "opencode-go"
    private static let limits = (session: 12.0, weekly: 30.0, monthly: 60.0)
    private static let hour: Int64 = 3_600_000
    private static let countLimit = 200_000

    /// By a hash of the id; nil without a cost.
    private var messages: [UInt64: Cost?] = [:]
    private var steps: [UInt64: Cost] = [:]
    /// When the first request was made.
    private var earliest: Int64?

    /// Whether there was any request.
    var isUsed: Bool { !messages.isEmpty }

    mutating func add(_ message: OpenCodeMessage, id: UInt64, time: Int64?) {
        guard message.isAssistant, message.provider == Self.provider, let time = message.created ?? time else { return }
        if message.usage.cost != nil { earliest = min(earliest ?? time, time) }
        guard messages[id] != nil || messages.count < Self.countLimit else { return }
        messages[id] = .some(Self.cost(message.usage, at: time))
    }

    mutating func add(_ part: OpenCodePart, id: UInt64, message: UInt64, time: Int64?) {
        guard let stated = messages[message], let usage = part.step,
            let time = part.created ?? time ?? stated?.time,
            var cost = Self.cost(usage, at: time), steps.count < Self.countLimit
        else { return }
        cost.message = message
        steps[id] = cost
    }

    private static func cost(_ usage: OpenCodeUsage, at time: Int64) -> Cost? {
        usage.cost.flatMap { $0 >= 0 ? Cost(time: time, amount: $0) : nil }
    }

    /// What has been used at the time `now`.
    func windows(at now: Date) -> [(limit: String, window: LimitReading.Window)] {
        let replaced = Set(steps.values.compactMap(\.message))
        let costs =
            Array(steps.values)
            + messages.compactMap { replaced.contains($0.key) ? nil : $0.value }
        let time = Int64(now.timeIntervalSince1970 * 1_000)
        let session = time - 5 * Self.hour
        let week = Self.week(of: time)
        let month = Self.month(of: now, from: earliest ?? time)
        let oldest = costs.lazy.map(\.time).filter { $0 >= session && $0 < time }.min()
        func percent(since start: Int64, of limit: Double) -> Double {
            let sum = costs.reduce(0) { $1.time >= start && $1.time < time ? $0 + $1.amount : $0 }
            return (min(100, sum / limit * 100) * 10).rounded() / 10
        }
        func window(_ kind: WindowKind, _ used: Double, until end: Int64?) -> LimitReading.Window {
            LimitReading.Window(
                kind: kind, usedPercent: used, resetsAt: end.map { Date(timeIntervalSince1970: Double($0) / 1_000) })
        }
        return [
            (
                "session",
                window(
                    .session, percent(since: session, of: Self.limits.session),
                    until: oldest.map { $0 + 5 * Self.hour })
            ),
            ("weekly", window(.weekly, percent(since: week, of: Self.limits.weekly), until: week + 7 * 24 * Self.hour)),
            (
                "monthly",
                window(
                    .length(minutes: Int((month.end - month.start) / 60_000)),
                    percent(since: month.start, of: Self.limits.monthly), until: month.end)
            ),
        ]
    }

    /// The Monday before, in UTC: 1970 began on a Thursday.
    private static func week(of time: Int64) -> Int64 {
        let (day, week) = (24 * hour, 7 * 24 * hour)
        return time - ((time - 4 * day) % week + week) % week
    }

    /// The month that begins with the day and time of the first request, or with its last day where it has not that
    /// many.
    private static func month(of now: Date, from anchor: Int64) -> (start: Int64, end: Int64) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let first = Date(timeIntervalSince1970: Double(anchor) / 1_000)
        let passed = max(0, calendar.dateComponents([.month], from: first, to: now).month ?? 0)
        // From the first request each time, so that a short month shortens only itself.
        func boundary(_ count: Int) -> Date {
            calendar.date(byAdding: .month, value: count, to: first) ?? first
        }
        let count = (max(0, passed - 1)...passed + 1).last { boundary($0) <= now } ?? 0
        let (start, end) = (boundary(count), boundary(count + 1))
        return (Int64(start.timeIntervalSince1970 * 1_000), Int64(end.timeIntervalSince1970 * 1_000))
    }
}
