public import Essentials
import SnapshotModels

/// One statement of a tool's files about a limit, and why it is shown or not.
///
/// For an example see `SourceEnvironment`.
public struct ConsideredReading: Sendable, Equatable {
    public var limit: String
    /// "session 36 %, weekly 54 %"; never a file's raw content.
    public var statement: String
    public var observedAt: Date
    public var path: String
    /// Bytes before the line; nil for a document and for a compressed file.
    public var offset: Int64?
    /// The account's address, else its id.
    public var account: String?
    public var isShown: Bool
    /// Completes "shown:" or "not shown:".
    public var reason: String
}

extension LimitReading {
    /// "session 36 %, resets 2026-09-18T14:15:00Z".
    var statement: String {
        var parts = windows.map { window in
            "\(window.kind.name) \(window.percentText)"
                + (window.resetsAt.map { ", resets \($0.formatted(.iso8601))" } ?? "")
        }
        if isRejection { parts = windows.map { "\($0.kind.name) limit reached" } }
        if let reachedType { parts.append(reachedType.displayText(limit: 64) ?? "") }
        if let credits {
            parts.append(
                credits.isUnlimited
                    ? "unlimited credits"
                    : credits.balance.map { "credits \($0)" }
                        ?? (credits.hasCredits ? "credits" : "no credits"))
        }
        if let budget { parts.append("\(budget.usedAmount) of \(budget.limitAmount) spent") }
        if isSpendLimitReached == true { parts.append("spend limit reached") }
        if parts.isEmpty, let plan { parts.append("plan \(plan)") }
        return parts.joined(separator: "; ")
    }

    /// "the window until … was seen elsewhere at …".
    fileprivate var sighting: String {
        let resets = windows.compactMap(\.resetsAt).map { $0.formatted(.iso8601) }
        return "the window until \(resets.joined(separator: " or ")) was seen elsewhere at "
            + observedAt.formatted(.iso8601)
    }
}

extension Evidence {
    private static let consideredLimit = 200

    /// Every reading with its verdict, newest first.
    ///
    /// - Parameters:
    ///   - account: the account of a reading.
    ///   - present: the account that is logged in.
    ///   - conflict: why a reading is not of that account.
    func considered(
        account: (LimitReading) -> String?, present: String?, shownAs name: String?,
        conflict: (LimitReading) -> LoginConflict? = { _ in nil }, at now: Date
    ) -> [ConsideredReading] {
        let own = filter { account($0) == present }
        let all = readings.values.flatMap { $0 } + flawed
        let newestFirst = all.sorted { left, right in
            LimitReading.isOlder(right, than: left)
                || !LimitReading.isOlder(left, than: right) && left.limit < right.limit
        }
        return newestFirst.prefix(Self.consideredLimit).map { reading in
            let owner = account(reading)
            let (isShown, reason) = own.verdict(
                on: reading, isOwn: owner == present, conflict: conflict(reading), at: now)
            let label = reading.label.flatMap { reading.limit.contains($0) ? nil : " (\($0))" }
            return ConsideredReading(
                limit: reading.limit + (label ?? ""), statement: reading.statement, observedAt: reading.observedAt,
                path: reading.origin.path, offset: reading.origin.isCompressed ? nil : reading.origin.offset,
                account: owner == present ? name ?? owner : owner, isShown: isShown, reason: reason)
        }
    }

    private func verdict(
        on reading: LimitReading, isOwn: Bool, conflict: LoginConflict?, at now: Date
    ) -> (isShown: Bool, reason: String) {
        switch reading.flaw {
        case .copy: return (false, "a copy of another session's line")
        case .implausiblePercent:
            return (false, "the percent cannot be: it is between 0 and 200")
        case .implausibleReset:
            let isPast = reading.windows.contains {
                $0.resetsAt.map { $0 < reading.observedAt } ?? false
            }
            return (
                false,
                isPast
                    ? "the reset was long over when it was written"
                    : "the reset is further away than the window is long"
            )
        case nil: break
        }
        if let conflict { return (false, conflict.reason) }
        if !isOwn { return (false, "of an account that is not logged in") }
        if reading.windows.isEmpty { return (false, "no window; read for plan and credits") }
        if let original = original(of: reading) {
            return (false, "an idle session's repetition: \(original.sighting)")
        }
        guard let newest = newest(reading.limit) else { return (false, "") }
        if newest != reading {
            return reading.isFromFuture
                ? (false, "dated in the future")
                : (false, "older than the reading of \(newest.observedAt.formatted(.iso8601))")
        }
        let live = reading.windows.filter { $0.isLive(observedAt: reading.observedAt, at: now) }
        if live.count < reading.windows.count {
            let expired = reading.windows.filter { !live.contains($0) }.map(\.kind.name)
            let text = "reset since: " + expired.joined(separator: " and ")
            return live.isEmpty ? (false, text) : (true, "the newest; " + text)
        }
        return (true, "the newest reading of this limit")
    }
}
