/// One of the things that a group compares.
struct Subject {
    var name: String
    /// Runs before each sample and is not measured.
    var prepare: () throws -> Void = {}
    /// What is measured.
    var body: () throws -> Void
}

/// How often a group is measured.
struct Sampling {
    var group: String
    var runs: Int
    /// Operations in one call of a subject's body; the clock is read once for all of them.
    var operations = 1

    /// Measures the subjects in turns, so that other load on the machine affects all of them alike, and divides
    /// the medians by the first one's.
    func measure(_ subjects: [Subject]) throws -> [Measurement] {
        var samples = [[Double]](repeating: [], count: subjects.count)
        for run in -warmUpCount..<runs {
            for (index, subject) in subjects.enumerated() {
                try subject.prepare()
                let elapsed = try nanoseconds { try subject.body() }
                if run >= 0 { samples[index].append(elapsed / Double(operations)) }
            }
        }
        return ratios(zip(subjects.map(\.name), samples))
    }

    /// Measurements of samples taken elsewhere, in nanoseconds per operation.
    func ratios(_ taken: some Sequence<(String, [Double])>) -> [Measurement] {
        var measurements: [Measurement] = []
        for (name, samples) in taken {
            measurements.append(
                Measurement(group: group, subject: name, samples: samples, ratioTo: measurements.first?.median))
        }
        if !measurements.isEmpty { measurements[0].ratio = 1 }
        return measurements
    }

    private var warmUpCount: Int { max(1, runs / 50) }
}

/// Times a call.
func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
    let duration = try ContinuousClock().measure(body)
    return Double(duration.components.seconds) * 1e9 + Double(duration.components.attoseconds) / 1e9
}

/// Keeps the compiler from removing a computation whose result is unused.
@inline(never)
func consume(_ value: some Any) { _ = value }
