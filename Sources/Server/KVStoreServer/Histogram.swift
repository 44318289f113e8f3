/// Counts of observations by size, as Prometheus defines a histogram. Observing allocates nothing.
package struct Histogram: Sendable, Equatable {
    /// The inclusive upper limits of the buckets, ascending; a last bucket has none.
    let limits: [Double]
    /// By bucket, not cumulative.
    private var counts: [Int]
    private(set) var sum = 0.0

    init(_ limits: [Double]) {
        self.limits = limits
        counts = Array(repeating: 0, count: limits.count + 1)
    }

    /// Nil without observations.
    package var mean: Double? { count == 0 ? nil : sum / Double(count) }

    var count: Int { counts.reduce(0, +) }

    package mutating func observe(_ value: Double) {
        counts[limits.firstIndex { value <= $0 } ?? limits.count] += 1
        sum += value
    }

    /// The lines of the Prometheus text format.
    func text(_ name: String) -> String {
        var text = ""
        var total = 0
        for (limit, count) in zip(limits.map { "\($0)" } + ["+Inf"], counts) {
            total += count
            text += "\(name)_bucket{le=\"\(limit)\"} \(total)\n"
        }
        return text + "\(name)_sum \(sum)\n\(name)_count \(total)\n"
    }
}
