/// The latest events of a simulated cloud, rendered only when somebody reads them.
struct Trace {
    static let keptLineCount = 10_000

    private enum Line {
        case text(String)
        case decision(CloudDecision)
    }

    private var lines: [(milliseconds: Int64, line: Line)] = []

    mutating func append(_ text: String, at milliseconds: Int64) {
        append(.text(text), at: milliseconds)
    }

    mutating func append(_ decision: CloudDecision, at milliseconds: Int64) {
        append(.decision(decision), at: milliseconds)
    }

    private mutating func append(_ line: Line, at milliseconds: Int64) {
        lines.append((milliseconds, line))
        if lines.count > Self.keptLineCount { lines.removeFirst(1_000) }
    }

    /// One line per event with its virtual second, oldest first.
    var rendered: [String] {
        lines.map { milliseconds, line in
            let text =
                switch line {
                case .text(let text): text
                case .decision(let decision): decision.description
                }
            return "\(VirtualClock.seconds(milliseconds)) \(text)"
        }
    }
}
