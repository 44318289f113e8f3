import Essentials
import SnapshotModels

/// The card of one account whose limits have a window each: what is pushed and shown at the time `now`.
///
/// For each limit the newest reading counts; a window that has been reset since is left out and named in the status,
/// unless a newer reading may be missing.
struct LimitCard {
    private static let windowLimit = 12

    var providerID: String
    var providerName: String
    var evidence: Evidence
    var now: Date
    var email: String?
    var plan: String?
    /// What has been spent, and when that was observed.
    var budget: LimitReading?
    /// Whether the percentages were calculated here.
    var isEstimated = false
    /// Why it is not certain whose the numbers are.
    var doubt: String?
    /// What the pass that gave the evidence could not read.
    var issues = SourceIssues()

    /// Nil when neither an account nor a number is known.
    ///
    /// - Parameter accountSeenAt: when the file that names the account was written.
    func snapshot(accountSeenAt: Date? = nil) -> ProviderUsageSnapshot? {
        let live = Array(evidence.live(at: now).prefix(Self.windowLimit))
        let observed =
            live.map(\.observedAt).max() ?? budget?.observedAt
            ?? evidence.newest(where: { !$0.windows.isEmpty })?.observedAt ?? accountSeenAt
        guard let observed else { return nil }
        let windows = live.flatMap { reading in
            reading.windows.map {
                $0.rateWindow(label: reading.label, observedAt: reading.observedAt, newest: min(observed, now))
            }
        }
        let general = zip(live.flatMap(\.windows), windows).filter { $0.1.label == nil }
        return ProviderUsageSnapshot(
            providerID: providerID, providerName: providerName,
            primary: general.first { $0.0.kind != .weekly }?.1,
            secondary: general.first { $0.0.kind == .weekly }?.1, accountEmail: email,
            loginMethod: plan, statusMessage: status, lastUpdated: min(observed, now),
            rateWindows: windows.isEmpty ? nil : windows, budget: budget?.budget,
            usageDataConfidence: windows.isEmpty ? nil : isEstimated ? "estimated" : doubt == nil ? "exact" : "unknown")
    }

    private var status: String? {
        let sentences = [doubt, issues.notice ?? resetNotice].compactMap { $0 }
        return sentences.isEmpty ? nil : sentences.joined(separator: ". ")
    }

    /// Names the general limits that have been reset; that of a model may have ended with the model.
    private var resetNotice: String? {
        let live = Set(evidence.live(at: now).map(\.limit))
        let kinds = evidence.readings.filter { !live.contains($0.key) }.values.compactMap {
            $0.first { $0.label == nil && !$0.isRejection }?.windows.first?.kind
        }
        return WindowKind.resetNotice(kinds.sorted())
    }
}

extension Evidence {
    /// The newest readings whose windows are still in effect: those of everything first, then by label.
    func live(at now: Date) -> [LimitReading] {
        readings.keys.compactMap { newest($0) }.filter { reading in
            reading.windows.contains { $0.isLive(observedAt: reading.observedAt, at: now) }
        }.sorted { left, right in
            if (left.label == nil) != (right.label == nil) { return left.label == nil }
            return (left.label ?? "", left.windows[0].kind) < (right.label ?? "", right.windows[0].kind)
        }
    }

    /// "session 22 % used, weekly 37 % used" for the windows still in effect, and when the newest of them was observed;
    /// nil without any.
    func summary(at now: Date) -> (text: String, observedAt: Date)? {
        let live = live(at: now)
        guard let observed = live.map(\.observedAt).max() else { return nil }
        let parts = live.map { "\($0.limit) \($0.windows[0].percentText) used" }
        return (parts.joined(separator: ", "), min(observed, now))
    }
}
