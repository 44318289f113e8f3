/// The results for one subject.
struct Measurement: Encodable {
    var group: String
    var subject: String
    var runs: Int
    /// Nanoseconds of one operation.
    var median: Double
    var p99: Double
    /// The slowest run, in nanoseconds of one operation.
    var slowest: Double
    /// The median divided by the median of the group's first subject.
    var ratio: Double?

    /// - Parameter samples: nanoseconds of one operation each; not empty.
    init(group: String, subject: String, samples: [Double], ratioTo first: Double? = nil) {
        let sorted = samples.sorted()
        self.group = group
        self.subject = subject
        runs = sorted.count
        median = Self.quantile(0.5, of: sorted)
        p99 = Self.quantile(0.99, of: sorted)
        slowest = sorted[sorted.count - 1]
        ratio = first.map { median / $0 }
    }

    /// The nearest-rank percentile, which is always one of the samples.
    private static func quantile(_ share: Double, of sorted: [Double]) -> Double {
        let place = Int((share * Double(sorted.count)).rounded(.up)) - 1
        return sorted[max(0, min(place, sorted.count - 1))]
    }
}

/// A size that goes with a measurement.
struct Fact: Encodable {
    var group: String
    var name: String
    var byteCount: Int
}

/// What one group found.
struct Findings: Encodable {
    var measurements: [Measurement] = []
    var facts: [Fact] = []
}
