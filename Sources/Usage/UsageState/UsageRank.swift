package import Essentials
import SnapshotModels

/// Where a window stands among all: what ends first is first, what is not known of now comes later, and what has no
/// limit last. Compared number by number.
package struct UsageRank: Sendable, Equatable, Comparable, Encodable {
    private let numbers: [Double]

    package init(_ provider: ProviderState, _ state: WindowState?, at time: Date) {
        let condition = UsageItem.condition(of: state, in: provider, at: time)
        let urgency = state.flatMap { UsageItem.urgency(of: $0, condition) }
        let group: Double =
            switch condition {
            case _ where urgency != nil: 0
            case .current, .cached: 0
            case .stale, .clockAhead: 1
            case .error: 2
            case .expired: 3
            case .noWindow: 4
            }
        guard let state, group < 2 else {
            numbers = [group]
            return
        }
        let used = state.window.usedPercent
        let end = used >= 100 ? 0 : state.warning?.timeIntervalSince1970 ?? Self.never
        numbers = [
            group, urgency.map { Double(-$0.number) } ?? 0, end, used.isFinite ? -used : 0,
            state.window.resetsAt?.timeIntervalSince1970 ?? Self.never,
        ]
    }

    private static let never = 1e12

    fileprivate var place: [Double] { Array(numbers.prefix(2)) }

    package static func < (left: UsageRank, right: UsageRank) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }

    package func encode(to encoder: any Encoder) throws { try numbers.encode(to: encoder) }
}

extension ProviderState {
    /// Its most urgent window.
    package struct First: Sendable, Equatable {
        package let rank: UsageRank
        /// Among the windows; 0 without any.
        package let index: Int
    }

    /// That of its most urgent window.
    package func rank(at time: Date) -> UsageRank { first(at: time).rank }

    private func first(at time: Date) -> First {
        windows.enumerated().map { First(rank: UsageRank(self, $1, at: time), index: $0) }.min { $0.rank < $1.rank }
            ?? First(rank: UsageRank(self, nil, at: time), index: 0)
    }

    /// When what is known of it becomes something else without newer data.
    var turningPoints: [Date] {
        ([freshnessByTime] + windows.map { freshness(of: $0) }).flatMap { $0.changes.compactMap(\.from) }
            + windows.flatMap { [$0.window.resetsAt, $0.warning] }.compactMap { $0 }
    }

    package var firstByTime: Timed<First> { Timed(changingAt: turningPoints, first) }

    /// Its windows as items, the most urgent first; one without a window for an account without any.
    package func items(at time: Date) -> [UsageItem] {
        guard !windows.isEmpty else { return [UsageItem(self, nil, at: time)] }
        return windows.map { ($0, UsageRank(self, $0, at: time)) }.sorted { $0.1 < $1.1 }
            .map { UsageItem(self, $0.0, at: time) }
    }

    /// What ends first is first; accounts of one tool are together, where its first one is.
    package static func mostUrgentFirst(_ providers: [ProviderState], at time: Date) -> [ProviderState] {
        let ranked = providers.map { ($0, $0.rank(at: time)) }.sorted { $0.1 < $1.1 }.map(\.0)
        var tools: [String] = []
        for provider in ranked where !tools.contains(provider.snapshot.providerID) {
            tools.append(provider.snapshot.providerID)
        }
        let groups = Dictionary(grouping: ranked, by: \.snapshot.providerID)
        return tools.flatMap { groups[$0] ?? [] }
    }
}

/// The order of a screen that somebody looks at. It changes when an account is more or less urgent than it was, or
/// comes or goes, and not with each number, so that nothing jumps.
package struct UsageOrder: Sendable, Equatable {
    private let ids: [String]
    /// What an account is among: by what is known of it, and its urgency.
    private let places: [String: [Double]]
    /// By how many places an account has just moved, up if negative. Not of those that others have passed.
    package let moves: [String: Int]
    /// Until when a screen marks them.
    let marksEnd: Date?

    private static let markDuration: TimeInterval = 5

    /// - Parameter former: what the screen showed before.
    init(_ providers: [ProviderState], at time: Date, after former: UsageOrder? = nil) {
        ids = providers.map(\.id)
        places = Dictionary(providers.map { ($0.id, $0.rank(at: time).place) }) { first, _ in first }
        let moves = former.map { Self.moves(from: $0.ids, to: providers.map(\.id)) } ?? [:]
        if moves.isEmpty, let former, let end = former.marksEnd, end > time {
            (self.moves, marksEnd) = (former.moves, end)
        } else {
            (self.moves, marksEnd) = (moves, moves.isEmpty ? nil : time.addingTimeInterval(Self.markDuration))
        }
    }

    /// The longest sequence that is in both orders has stayed; of two, the one that leaves what has risen.
    private static func moves(from former: [String], to present: [String]) -> [String: Int] {
        guard former != present else { return [:] }
        let known = Set(former).intersection(present)
        let old = Dictionary(zip(former.filter(known.contains), 0...)) { first, _ in first }
        let places = present.compactMap { old[$0] }
        let longest = { (runs: [[Int]]) in runs.reduce([]) { $1.count >= $0.count ? $1 : $0 } }
        var runs: [[Int]] = []
        for place in places { runs.append(longest(runs.filter { ($0.last ?? 0) < place }) + [place]) }
        let stayed = Set(longest(runs))
        let moved = zip(present.filter(known.contains), zip(places, 0...)).filter { !stayed.contains($1.0) }
        return Dictionary(moved.map { ($0, $1.1 - $1.0) }) { first, _ in first }
    }

    /// The accounts in this order, if it still holds.
    func ordered(_ providers: [ProviderState], at time: Date) -> [ProviderState]? {
        guard UsageOrder(providers, at: time).places == places else { return nil }
        let indices = Dictionary(zip(ids, ids.indices)) { first, _ in first }
        return providers.sorted { (indices[$0.id] ?? 0) < (indices[$1.id] ?? 0) }
    }
}

extension UsageItem {
    /// The item that a line has room for: what ends first of those that are known, else of those that were.
    package static func mostUrgent(of items: [UsageItem], at time: Date) -> UsageItem? {
        items.map { ($0, UsageRank($0.provider, $0.window, at: time)) }.min { $0.1 < $1.1 }?.0
    }
}
