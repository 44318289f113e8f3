import Essentials

/// What has been read of a rollout.
struct CodexRollout: Sendable {
    var head = CodexRolloutHead()
    private(set) var evidence = Evidence()
    /// The time of the oldest row that has been read.
    private var oldest: Date?

    /// - Parameter line: contains `CodexRow.needle`.
    mutating func add(_ line: Data, origin: LimitReading.Origin, at now: Date) {
        guard let row = CodexRow(line: line, origin: origin) else { return }
        oldest = row.observedAt.map { min($0, oldest ?? $0) } ?? oldest
        for reading in row.flawed + [row.reading].compactMap({ $0 }) {
            var reading = reading
            if head.isCopy(reading.observedAt) { reading.flaw = .copy }
            reading.creator = head.creator
            evidence.add(reading.dated(at: now))
        }
    }

    func reachesBack(to time: Date) -> Bool { oldest.map { $0 <= time } ?? false }
}
