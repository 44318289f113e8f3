import Foundation
import SnapshotModels

/// One number for one window, as a tool's file states it.
struct WindowReading: Sendable, Hashable, Encodable {
    var usedPercent: Double
    var resetsAt: Date?
    var observedAt: Date

    /// Nil without a plausible percent.
    init?(usedPercent: Double?, resetsAt: Date?, observedAt: Date) {
        guard let usedPercent, (-1_000...1_000).contains(usedPercent) else { return nil }
        self.usedPercent = usedPercent
        self.resetsAt = resetsAt
        self.observedAt = observedAt
    }
}

/// All readings of one limit (a provider's five-hour limit, say) and the rule which one counts.
///
/// The readings are a set: adding one twice, or in another order, gives the same answer. At a time
/// `now`:
/// - A reading whose reset has passed is obsolete.
/// - Of the others the latest reset wins: it belongs to a newer window.
/// - Within one window (resets up to 60 s apart) the greatest percent wins, whenever it was
///   observed: copies of old lines have fresh times and old numbers, and usage never falls. Of
///   equal percents the newest wins.
/// - A reading without a reset counts when no other does, and for no longer than its window.
struct WindowReadings: Sendable, Hashable {
    static let sameWindow: TimeInterval = 60
    private static let limit = 64
    /// How much later than a full window from now a plausible reset may be, in seconds.
    private static let resetTolerance: TimeInterval = 86_400
    private static let longestWindow: TimeInterval = 400 * 86_400

    /// The best reading for each reset (whole seconds), latest reset first.
    private var known: [WindowReading] = []
    private var withoutReset: WindowReading?

    /// Whether the reset is no further away than the window is long.
    static func isPlausible(reset: Date, kind: WindowKind, from now: Date) -> Bool {
        let length = kind.minutes.map { TimeInterval($0 * 60) } ?? longestWindow
        return reset.timeIntervalSince(now) <= length + resetTolerance
    }

    mutating func add(_ reading: WindowReading) {
        guard let reset = reading.resetsAt else {
            let held = withoutReset ?? reading
            let isNewer =
                (reading.observedAt, reading.usedPercent) >= (held.observedAt, held.usedPercent)
            withoutReset = isNewer ? reading : held
            return
        }
        var reading = reading
        let wholeSeconds = Date(timeIntervalSince1970: reset.timeIntervalSince1970.rounded(.down))
        reading.resetsAt = wholeSeconds
        if let index = known.firstIndex(where: { $0.resetsAt == wholeSeconds }) {
            if Self.isBetter(reading, than: known[index]) { known[index] = reading }
            return
        }
        let index = known.firstIndex { ($0.resetsAt ?? .distantPast) < wholeSeconds } ?? known.count
        known.insert(reading, at: index)
        if known.count > Self.limit { known.removeLast() }
    }

    mutating func merge(_ other: WindowReadings) {
        for reading in other.known { add(reading) }
        if let reading = other.withoutReset { add(reading) }
    }

    /// The reading that counts at `now`; its observation is never later than `now`.
    func current(_ kind: WindowKind, at now: Date) -> WindowReading? {
        let live = known.filter { reading in
            guard let reset = reading.resetsAt else { return false }
            return reset > now && Self.isPlausible(reset: reset, kind: kind, from: now)
        }
        if let latest = live.first?.resetsAt {
            let window = live.prefix {
                latest.timeIntervalSince($0.resetsAt ?? latest) <= Self.sameWindow
            }
            return window.max { Self.isBetter($1, than: $0) }?.observed(notAfter: now)
        }
        guard let reading = withoutReset else { return nil }
        let length = TimeInterval((kind.minutes ?? WindowKind.sessionMinutes) * 60)
        guard now.timeIntervalSince(reading.observedAt) < length else { return nil }
        return reading.observed(notAfter: now)
    }

    /// The newest reading, obsolete or not; its observation is never later than `now`.
    func newest(at now: Date) -> WindowReading? {
        (known + [withoutReset].compactMap { $0 })
            .max { $0.observedAt < $1.observedAt }?.observed(notAfter: now)
    }

    private static func isBetter(_ left: WindowReading, than right: WindowReading) -> Bool {
        (left.usedPercent, left.observedAt) > (right.usedPercent, right.observedAt)
    }
}

extension WindowReading {
    func observed(notAfter now: Date) -> WindowReading {
        var reading = self
        reading.observedAt = min(observedAt, now)
        return reading
    }

    /// Whether the reset, if any, is no further away than a window of this kind is long.
    func isPlausible(for kind: WindowKind) -> Bool {
        guard let resetsAt else { return true }
        return WindowReadings.isPlausible(reset: resetsAt, kind: kind, from: observedAt)
    }

    /// "36 %", "41.2 %".
    var percentText: String {
        let tenths = (usedPercent * 10).rounded() / 10
        return tenths == tenths.rounded() ? "\(Int(tenths)) %" : "\(tenths) %"
    }

    func window(_ kind: WindowKind, label: String? = nil) -> SyncRateWindow {
        SyncRateWindow(
            usedPercent: usedPercent, windowMinutes: kind.minutes, resetsAt: resetsAt, label: label)
    }
}
