package import Essentials
import SnapshotModels

/// The condition that `usage-view wait` waits for. Call `progress` after every change of data or time.
package enum UsageWait: Sendable, Equatable {
    /// The limit that has the least left is reset, or has been reset since the number was read.
    case reset(ResetGoal)
    /// No selected window has this percentage or more used.
    case below(percent: Double)

    package enum Progress: Sendable, Equatable {
        case reached
        /// Not yet.
        ///
        /// - Parameters:
        ///   - item: the window that is waited for.
        ///   - next: when to look again without new data; nil if only new data can change something.
        case waiting(item: UsageItem, next: Date?)
        /// Nothing is known to wait for, with the reason.
        case unknown(String)
    }

    /// What is known about the window since the wait began.
    package struct ResetGoal: Sendable, Equatable {
        fileprivate var first: UsageItem?
        package init() {}
    }

    /// A provider states a reset anew with each reading, a little earlier or later.
    private static let tolerance: TimeInterval = 60

    /// To be called at the beginning, after each change of the data, and at the time that it names.
    package mutating func progress(_ model: ViewModel, selection: UsageSelection) -> Progress {
        let items = selection.items(of: model.providers, at: model.now)
        switch self {
        case .below(let percent):
            return Self.below(percent, items, now: model.now) ?? .unknown(selection.absence(in: model, items: items))
        case .reset(var goal):
            let progress = Self.reset(&goal, items, now: model.now)
            self = .reset(goal)
            return progress ?? .unknown(Self.withoutReset(selection, model, items))
        }
    }

    /// A window that has been reset is below any percentage. An old number counts as what it says: a tool that is not
    /// used has no newer one.
    private static func below(_ percent: Double, _ items: [UsageItem], now: Date) -> Progress? {
        let windows = items.filter { $0.window != nil }
        guard !windows.isEmpty else { return nil }
        let open = windows.filter { ($0.usedPercent ?? -.infinity) >= percent }
        guard
            let tightest = open.min(by: { ($0.remainingPercent ?? 0) < ($1.remainingPercent ?? 0) })
        else { return .reached }
        return .waiting(item: tightest, next: open.compactMap(\.resetsAt).min())
    }

    private static func reset(_ goal: inout ResetGoal, _ items: [UsageItem], now: Date) -> Progress? {
        guard let first = goal.first else {
            let dated = items.filter { $0.resetsAt != nil }
            // With the least left also among old numbers: they have not become less.
            let tightest = dated.filter { $0.condition.hasPercent }
                .min { ($0.remainingPercent ?? 0) < ($1.remainingPercent ?? 0) }
            guard let tightest else { return dated.isEmpty ? nil : .reached }
            goal.first = tightest
            return .waiting(item: tightest, next: tightest.resetsAt)
        }
        guard let former = first.resetsAt else { return .reached }
        let present = items.first { $0.isSameWindow(as: first) } ?? first
        if present.condition == .expired { return .reached }
        guard let resetsAt = present.resetsAt, resetsAt > now else { return .reached }
        let isAnother = resetsAt > former.addingTimeInterval(tolerance)
        let isRenewed = now >= former || (present.usedPercent ?? 0) < (first.usedPercent ?? 0)
        return isAnother && isRenewed ? .reached : .waiting(item: present, next: resetsAt)
    }

    private static func withoutReset(
        _ selection: UsageSelection, _ model: ViewModel, _ items: [UsageItem]
    ) -> String {
        items.contains { $0.window != nil && $0.resetsAt == nil }
            ? "no reset is stated" : selection.absence(in: model, items: items)
    }
}

extension UsageItem {
    /// Whether both are the same limit of the same account, at two times.
    package func isSameWindow(as other: UsageItem) -> Bool {
        provider.snapshot.providerID == other.provider.snapshot.providerID
            && provider.snapshot.accountEmail == other.provider.snapshot.accountEmail
            && window?.label == other.window?.label
    }
}
