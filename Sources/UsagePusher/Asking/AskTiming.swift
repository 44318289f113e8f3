import Essentials
import SnapshotModels

/// When a machine asks a tool about an account that other machines may ask about, too.
///
/// There is no notice to wait for and none to lose: everybody computes the same from the merged usage. The machine that
/// the newest reading is from asks as soon as that is old enough. The others, in the order of their ids, and whoever
/// has failed or comes too late, have a time slot each that is counted from that reading; an answer begins a new count.
/// Machines with the same settings, of which the clocks differ by less than a minute, therefore never ask within a
/// minute.
struct AskTiming: Sendable, Equatable {
    /// Seconds from one slot to the next: the minute, the difference of the clocks, and `lateness`.
    static let spacing = 60 + SnapshotMerge.clockTolerance + lateness
    /// Seconds after its time within which a question may begin.
    static let lateness: TimeInterval = 30
    /// Seconds without a push after which a machine has no slot.
    private static let silence: TimeInterval = 86_400

    let settings: AskSettings
    /// When this machine asked last.
    var lastQuestion: Date?
    /// How many of its questions in a row have failed.
    var failureCount = 0
    /// When the newest reading was observed; nil without one.
    private(set) var newest: Date?
    /// What slots are counted from; nil without others.
    private var origin: Date?
    /// This machine's place among those that have the account, and how many these are.
    private(set) var rank = 0
    private(set) var machineCount = 1

    /// - Parameters:
    ///   - account: as all machines together know it; nil if no machine has pushed it.
    ///   - device: this machine's id.
    ///   - own: when the newest reading of this machine was observed.
    init(_ settings: AskSettings, account: MergedProvider?, device: String, own: Date? = nil, at now: Date) {
        self.settings = settings
        newest = own
        guard let account else { return }
        let updated = account.snapshot.lastUpdated
        // A later one is of a wrong clock.
        let isPlausible = updated <= now.addingTimeInterval(SnapshotMerge.clockTolerance)
        if isPlausible, account.snapshot.hasNumbers { newest = max(updated, own ?? updated) }
        let lastPush = account.parts.map(\.syncTimestamp).max() ?? updated
        let present = account.parts.filter { lastPush.timeIntervalSince($0.syncTimestamp) < Self.silence }
        let leader = account.snapshot.hasNumbers ? present.first(where: \.suppliesWindows)?.deviceID : nil
        let ids = Set((present.compactMap(\.deviceID) + [device]).map { $0.lowercased() })
        let others = ids.filter { $0 != leader?.lowercased() }
        let order = ids.subtracting(others) + others.sorted()
        rank = order.firstIndex(of: device.lowercased()) ?? 0
        machineCount = order.count
        if machineCount > 1 { origin = updated }
    }

    /// When to ask, not later than `lateness` after it.
    func due(at now: Date) -> Date {
        // A question of the future is of a wrong clock.
        let last = lastQuestion.flatMap { $0 <= now ? $0 : nil }
        let pause = TimeInterval(settings.pause(afterFailures: failureCount))
        let retry = last?.addingTimeInterval(pause) ?? .distantPast
        let earliest = max(newest?.addingTimeInterval(TimeInterval(settings.whenOlder)) ?? .distantPast, retry)
        guard let origin else { return earliest }
        let soonest = now.addingTimeInterval(-Self.lateness)
        let isLeading = rank == 0 && failureCount == 0 && newest != nil
        if isLeading, earliest >= soonest { return earliest }
        var begin = max(earliest, soonest)
        if rank > 0, let newest {
            let age = TimeInterval(max(settings.whenOlder, settings.every))
            begin = max(begin, newest.addingTimeInterval(age + Self.spacing))
        }
        let own = origin.addingTimeInterval(Double(rank) * Self.spacing)
        let round = Double(machineCount) * Self.spacing
        return own.addingTimeInterval((begin.timeIntervalSince(own) / round).rounded(.up) * round)
    }
}
