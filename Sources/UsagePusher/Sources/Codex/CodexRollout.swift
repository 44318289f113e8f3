import Foundation

/// What has been read of a rollout.
struct CodexRollout: Sendable {
    var head = CodexRolloutHead()
    private(set) var evidence = Evidence()

    /// - Parameter line: contains `CodexRow.needle`.
    mutating func add(_ line: Data, origin: LimitReading.Origin, at now: Date) {
        guard let row = CodexRow(line: line, origin: origin) else { return }
        for reading in row.flawed + [row.reading].compactMap({ $0 }) {
            var reading = reading
            if head.isCopy(reading.observedAt) { reading.flaw = .copy }
            evidence.add(reading.dated(at: now))
        }
    }
}
