import Essentials

/// The percentages of one window over time, to be drawn. In order of time.
struct PlotSeries: Sendable, Equatable {
    struct Sample: Sendable, Equatable {
        var date: Date
        /// Nil for a gap: nothing was observed from here to the next sample.
        var percent: Double?
    }

    var providerID: String
    var account: String?
    /// The label of the window.
    var label: String
    var samples: [Sample]
    /// When the window was reset.
    var resets: [Date] = []
    /// When the limit was reached.
    var reached: [Date] = []

    var last: Double? { samples.last { $0.percent != nil }?.percent }
    var peak: Double? { samples.compactMap(\.percent).max() }
}
