/// The blocks of hours in which a tool counts usage, estimated from when requests were made.
///
/// A block begins with the first request, at the start of that hour in UTC, and ends `length` later; a request later
/// than that, or that much later than the one before, begins the next one. In the second case there is a gap between
/// the two. [ryoppippi/ccusage, blocks.rs] Providers do not publish how they count theirs: this is no limit.
///
/// Buckets are enough for these rules: their first and last times are those of requests, and blocks end with a quarter
/// of an hour. One case differs from single requests: of those in the millisecond in which a block would end, the ones
/// with others in the following quarter of an hour are counted with these. Of a tool that keeps only the time of a
/// session's last request, all are counted at that.
package struct UsageBlocks: Sendable {
    package struct Block: Sendable {
        /// Milliseconds since 1970.
        package var start: Int64
        package var end: Int64
        /// The first and the last request; those before and after a gap.
        package var first: Int64
        package var last: Int64
        package var isGap = false
        package var isActive = false
        /// In the order of first use.
        package var models: [ModelUsage] = []
        package var total = UsageAmount()

        /// Nil unless the block is active and has requests at different times.
        package func rate(_ mode: CostMode) -> Rate? {
            let minutes = Double(last - first) / 60_000
            guard isActive, minutes > 0 else { return nil }
            let counts = total.counts
            return Rate(
                tokens: Double(counts.total) / minutes,
                uncachedTokens: Double(counts.input &+ counts.output) / minutes,
                dollarsPerHour: total.cost.dollars(mode) / minutes * 60)
        }

        /// What the block will have come to at its end, if its rate stays; nil without one.
        package func projection(_ mode: CostMode, at now: Int64) -> Projection? {
            guard let rate = rate(mode) else { return nil }
            let minutes = Double(max(0, end - now)) / 60_000
            let tokens = Double(total.counts.total) + rate.tokens * minutes
            let dollars = total.cost.dollars(mode) + rate.dollarsPerHour / 60 * minutes
            return Projection(
                tokens: Int(exactly: tokens.rounded()) ?? .max,
                dollars: (dollars * 100).rounded() / 100, minutes: Int(minutes.rounded()))
        }
    }

    /// From the first to the last request.
    package struct Rate: Sendable, Hashable {
        /// Per minute.
        package var tokens: Double
        /// Input and output per minute, without caches.
        package var uncachedTokens: Double
        package var dollarsPerHour: Double
    }

    package struct Projection: Sendable, Hashable {
        package var tokens: Int
        package var dollars: Double
        /// Until the end of the block.
        package var minutes: Int
    }

    /// A number of tokens for a block, the user's own or a former block's.
    package struct Limit: Sendable, Hashable {
        package enum Status: String, Sendable {
            case ok
            /// More than `warningPercent`.
            case warning
            case exceeds
        }

        package static let warningPercent = 80.0
        package var tokens: Int

        package init(tokens: Int) { self.tokens = tokens }

        package func percent(of tokens: Int) -> Double {
            self.tokens > 0 ? Double(tokens) / Double(self.tokens) * 100 : 0
        }

        package func status(of tokens: Int) -> Status {
            let percent = percent(of: tokens)
            return percent > 100 ? .exceeds : percent > Self.warningPercent ? .warning : .ok
        }
    }

    /// In order, of the days of the query.
    package private(set) var blocks: [Block] = []
    /// Milliseconds since 1970.
    package let now: Int64
    private let isDescending: Bool

    package static let usualHours = 5
    private static let hour: Int64 = 3_600_000

    /// - Parameters:
    ///   - hours: of a block, from 1 on.
    ///   - now: milliseconds since 1970.
    package init(_ usage: TokenUsage, hours: Int = usualHours, query: ReportQuery, at now: Int64) {
        self.now = now
        isDescending = query.isDescending
        let providers = ReportQuery.Providers(usage.sessions, query).indices
        let length = Int64(hours) * Self.hour
        var block: Block?
        var sums = ModelSums()
        func finish() {
            guard var finished = block else { return }
            finished.models = sums.models(usage.models)
            finished.total = sums.total
            finished.isActive = now - finished.last < length && now < finished.end
            blocks.append(finished)
            sums = ModelSums()
        }
        for bucket in usage.buckets where providers[Int(bucket.key.session)] != nil {
            let isGap = block.map { bucket.first - $0.last > length } ?? false
            if block.map({ bucket.last > $0.end }) ?? true || isGap {
                finish()
                if let block, isGap {
                    blocks.append(
                        Block(
                            start: block.last + length, end: bucket.first, first: block.last,
                            last: bucket.first, isGap: true))
                }
                let start = bucket.first / Self.hour * Self.hour
                block = Block(start: start, end: start + length, first: bucket.first, last: bucket.last)
            }
            if let last = block?.last { block?.last = max(last, bucket.last) }
            sums.add(bucket)
        }
        finish()
        var clock = ReportClock(zone: query.zone)
        blocks.removeAll { !query.includes(clock.day(of: $0.start)) }
        if isDescending { blocks.reverse() }
    }

    /// The largest number of tokens of a finished block; nil without one.
    package var largest: Int? {
        blocks.filter { !$0.isActive && !$0.isGap }.map(\.total.counts.total).max()
    }

    /// Keeps the active block only.
    package mutating func keepActive() { blocks.removeAll { !$0.isActive } }

    /// Keeps blocks that began within three days, and the active one.
    package mutating func keepRecent() {
        let start = now - 3 * 24 * Self.hour
        blocks.removeAll { $0.start < start && !$0.isActive }
    }

    /// The sum of all blocks.
    package var total: UsageAmount { blocks.reduce(into: UsageAmount()) { $0 += $1.total } }

    /// As `TokenReport.unknownModels`.
    package func unknownModels(_ mode: CostMode) -> [ModelUsage] {
        blocks.flatMap(\.models).unknown(mode)
    }
}
