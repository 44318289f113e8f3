import Essentials

/// The readings of a tool's limits, as a set: the newest of each limit, bounded in number, and the last of each
/// session. Adding one twice, or in another order, gives the same set.
struct Evidence: Sendable, Equatable {
    private static let limitCount = 64
    private static let readingsPerLimit = 16

    /// Newest first. The key is the limit's name.
    private(set) var readings: [String: [LimitReading]] = [:]
    /// By limit: which readings are repetitions.
    private var statements: [String: SessionStatements] = [:]
    /// Those with a flaw, newest first.
    private(set) var flawed: [LimitReading] = []

    /// Adds a reading, as one that never counts if its numbers cannot be.
    mutating func add(_ reading: LimitReading) {
        var reading = reading
        reading.flaw = reading.flaw ?? reading.implausibility
        if reading.flaw != nil {
            Self.insert(reading, into: &flawed)
        } else if readings[reading.limit] != nil || readings.count < Self.limitCount {
            Self.insert(reading, into: &readings[reading.limit, default: []])
            statements[reading.limit, default: SessionStatements()].add(reading)
        }
    }

    mutating func merge(_ other: Evidence) {
        for reading in other.all { add(reading) }
        for reading in other.flawed { add(reading) }
    }

    /// All without a flaw; some twice.
    private var all: [LimitReading] {
        readings.values.flatMap { $0 } + statements.values.flatMap(\.readings)
    }

    private static func insert(_ reading: LimitReading, into list: inout [LimitReading]) {
        guard !list.contains(reading) else { return }
        let index = list.firstIndex { LimitReading.isOlder($0, than: reading) } ?? list.endIndex
        list.insert(reading, at: index)
        if list.count > readingsPerLimit { list.removeLast() }
    }

    func dated(at now: Date) -> Evidence {
        var result = Evidence()
        for reading in all { result.add(reading.dated(at: now)) }
        result.flawed = flawed
        return result
    }

    func filter(_ isIncluded: (LimitReading) -> Bool) -> Evidence {
        var result = Evidence()
        for reading in all where isIncluded(reading) { result.add(reading) }
        result.flawed = flawed.filter(isIncluded)
        return result
    }

    /// The newest reading of a limit that is no repetition: it says which windows the limit has.
    func newest(_ limit: String) -> LimitReading? {
        readings[limit]?.first { $0.statesLimit && original(of: $0) == nil } ?? statements[limit]?.newest
    }

    /// The newest reading that states something.
    func newest(where isWanted: (LimitReading) -> Bool) -> LimitReading? {
        readings.values.compactMap { $0.first { isWanted($0) && original(of: $0) == nil } }
            .max { LimitReading.isOlder($0, than: $1) }
    }

    /// What shows that a reading repeats an old window; nil when nothing does.
    func original(of reading: LimitReading) -> LimitReading? {
        statements[reading.limit]?.original(of: reading)
    }

    var repetitions: [Repetition] { statements.values.flatMap(\.repetitions) }
}
