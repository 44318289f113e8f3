import Essentials
import SnapshotModels

/// What a tool's file states about one limit at one time.
struct LimitReading: Sendable, Equatable, Codable {
    struct Window: Sendable, Equatable, Codable {
        var kind: WindowKind
        var usedPercent: Double
        /// In whole seconds.
        var resetsAt: Date?

        init(kind: WindowKind, usedPercent: Double, resetsAt: Date?) {
            self.kind = kind
            self.usedPercent = usedPercent
            self.resetsAt = resetsAt.map {
                Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down))
            }
        }
    }

    struct Credits: Sendable, Equatable, Codable {
        var hasCredits: Bool
        var isUnlimited: Bool
        var balance: Double?
    }

    /// The place of the statement: a line of a file, or a document as a whole.
    struct Origin: Sendable, Equatable, Codable {
        var path: String
        /// Bytes before the line; nil for a document.
        var offset: Int64?
        /// Whether the offset is one in the decompressed text.
        var isCompressed = false
        /// Whether the file is what one session of the tool knows, which it may repeat later.
        var isOfSession = false
    }

    /// Why a statement never counts.
    enum Flaw: String, Sendable, Equatable, Codable {
        /// Written into this file from another session's.
        case copy
        case implausiblePercent
        case implausibleReset
    }

    /// The provider's name of the limit.
    var limit: String
    /// What the limit applies to, as shown; nil for everything.
    var label: String?
    var windows: [Window] = []
    /// Whether the provider rejected a request: the limit was used up.
    var isRejection = false
    var plan: String?
    var credits: Credits?
    var budget: SyncBudget?
    /// Codex's name for the kind of limit that was reached.
    var reachedType: String?
    var isSpendLimitReached: Bool?
    var observedAt: Date
    /// The fingerprint of the account's id, where the file names it.
    var account: String?
    /// The fingerprint of the id of who began the session. Another account may have continued it since.
    var creator: String?
    var origin: Origin
    var flaw: Flaw?
    /// Observed later than now: a clock was wrong, so every other reading is taken for newer.
    var isFromFuture = false

    /// The file of the session that states it; nil for a document and for a rejection.
    var session: String? { origin.isOfSession ? origin.path : nil }

    /// Without any of these a reading does not say that the limit has no windows.
    var statesLimit: Bool {
        !windows.isEmpty || credits != nil || reachedType != nil || budget != nil || isSpendLimitReached == true
    }

    /// Why the numbers of a window, or of what was spent, cannot be.
    var implausibility: Flaw? {
        (windows + [budget?.window].compactMap { $0 }).lazy.compactMap {
            $0.flaw(observedAt: observedAt)
        }.first
    }

    /// As read at `now`.
    func dated(at now: Date) -> LimitReading {
        var reading = self
        reading.isFromFuture = observedAt > now.addingTimeInterval(SnapshotBounds.clockTolerance)
        return reading
    }

    /// Newer readings are greater.
    static func isOlder(_ left: LimitReading, than right: LimitReading) -> Bool {
        if left.isFromFuture != right.isFromFuture { return left.isFromFuture }
        if left.observedAt != right.observedAt { return left.observedAt < right.observedAt }
        if left.isRejection != right.isRejection { return right.isRejection }
        return (left.origin.path, left.origin.offset ?? .max) < (right.origin.path, right.origin.offset ?? .max)
    }
}

extension SyncBudget {
    /// What has been spent of it, for as long as it lasts.
    var window: LimitReading.Window {
        LimitReading.Window(
            kind: .length(minutes: 366 * 1_440), usedPercent: usedAmount / limitAmount * 100, resetsAt: resetsAt)
    }
}

extension LimitReading.Window {
    /// 105 % has been seen.
    static let plausiblePercents = 0.0...200.0
    /// How much later than a full window from its observation a plausible reset may be, in seconds.
    private static let resetTolerance: TimeInterval = 86_400
    /// How long a session that was idle states a window after its reset, in seconds: longer than any window lasts, so
    /// that of two windows of one reading none is dropped alone.
    private static let idleTolerance: TimeInterval = 32 * 86_400

    /// Why the numbers cannot be; nil when they can. `Evidence` asks this about every reading.
    func flaw(observedAt: Date) -> LimitReading.Flaw? {
        guard Self.plausiblePercents.contains(usedPercent) else { return .implausiblePercent }
        guard let resetsAt else { return nil }
        let seconds = resetsAt.timeIntervalSince(observedAt)
        return (-Self.idleTolerance...kind.seconds + Self.resetTolerance).contains(seconds) ? nil : .implausibleReset
    }

    /// Whether the number still counts: until its reset, or without one for the length of its window.
    func isLive(observedAt: Date, at now: Date) -> Bool {
        if let resetsAt { return resetsAt > now }
        return now.timeIntervalSince(observedAt) < kind.seconds
    }

    /// "36 %", "41.2 %".
    var percentText: String {
        guard usedPercent.magnitude < 1e9 else { return "\(usedPercent) %" }
        let tenths = (usedPercent * 10).rounded() / 10
        return tenths == tenths.rounded() ? "\(Int(tenths)) %" : "\(tenths) %"
    }

    /// - Parameters:
    ///   - observedAt: when it was observed.
    ///   - newest: when the newest window of its card was.
    func rateWindow(label: String? = nil, observedAt: Date, newest: Date) -> SyncRateWindow {
        SyncRateWindow(
            usedPercent: usedPercent, windowMinutes: kind.minutes, resetsAt: resetsAt, label: label,
            observedAt: newest.timeIntervalSince(observedAt) >= 1 ? observedAt : nil)
    }
}
