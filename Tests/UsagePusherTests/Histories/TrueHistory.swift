import Foundation

@testable import UsagePusher

/// What the requests of a user of one tool have used.
struct TrueHistory {
    struct Request {
        /// Milliseconds since 1970.
        var time: Int64
        var session: String
        var project: String?
        var model: String?
        var counts: TokenCounts
        var tier = ServiceTier.standard
        /// Whether it was made where that costs more.
        var isRegional = false
        /// In US dollars, where the tool states it.
        var ownCost: Double?
        /// Whether the tool tells no more than when the session ended.
        var isCoarse = false

        /// Whether it only says what another one has searched.
        var isOfSearchAlone: Bool { counts.total == 0 && counts.webSearches > 0 }
    }

    var requests: [Request] = []
    /// The end of the name of a document that was cut off, so that a reading says so.
    var cutOff: String?
    /// Sessions of which the files do not tell which one made a request; by each, the name that stands for all of them.
    var indistinguishable: [String: String] = [:]

    /// What is of either session may be of the other.
    mutating func confuse(_ session: String, with other: String) { indistinguishable[session] = name(of: other) }

    /// Takes a session's requests away; those that a fork has copied are the fork's.
    mutating func remove(_ session: String, copies: (Request) -> Request?) {
        requests = requests.compactMap { $0.session == session ? copies($0) : $0 }
    }

    struct Key: Hashable {
        /// Quarters of an hour since 1970.
        var quarter: Int64
        var session: String
        var project: String?
        var model: String?
        var tier: ServiceTier
        var isCoarse: Bool
    }

    struct Sum: Hashable {
        var requestCount = 0
        var counts = TokenCounts()
        var cost = CostSums()
    }

    /// What a reading of all files must say.
    var sums: [Key: Sum] {
        var sums: [Key: Sum] = [:]
        for request in requests {
            let key = Key(
                quarter: request.time / TokenBucket.quarter, session: name(of: request.session),
                project: request.project, model: request.model, tier: request.tier, isCoarse: request.isCoarse)
            let price = request.model.flatMap(ModelPrices.packaged.price(for:))
            let cost = price?.cost(
                of: request.counts, tier: request.tier, isRegional: request.isRegional,
                at: request.isCoarse ? nil : request.time)
            let gaps: TokenCost.Gaps = request.counts == TokenCounts() ? [] : .model
            sums[key, default: Sum()].requestCount += request.isOfSearchAlone ? 0 : 1
            sums[key, default: Sum()].counts += request.counts
            sums[key, default: Sum()].cost += CostSums(
                own: request.ownCost ?? .nan, calculated: cost ?? TokenCost(gaps: gaps), tokens: request.counts)
        }
        return sums
    }

    /// What a reading says, as `sums`.
    func sums(of usage: TokenUsage) -> [Key: Sum] {
        var sums: [Key: Sum] = [:]
        for bucket in usage.buckets {
            let session = usage.session(of: bucket)
            let key = Key(
                quarter: Int64(bucket.key.quarter), session: name(of: session.id), project: session.project,
                model: usage.model(of: bucket), tier: bucket.key.tier, isCoarse: bucket.key.isCoarse)
            sums[key, default: Sum()].requestCount += bucket.requestCount
            sums[key, default: Sum()].counts += bucket.counts
            sums[key, default: Sum()].cost += bucket.cost
        }
        return sums
    }

    /// Where a reading differs, a line for each sum; nothing if it is right.
    ///
    /// - Parameter expected: `sums`, which take as long as a reading.
    func differences(of usage: TokenUsage, from expected: [Key: Sum]) -> [String] {
        let read = sums(of: usage)
        let differing = Set(expected.keys).union(read.keys).filter { expected[$0] != read[$0] }
        let lines = differing.map { key in
            "\(key): true \(Self.line(expected[key])), read \(Self.line(read[key]))"
        }
        let issues = usage.issues.filter { issue in
            !(cutOff.map { issue.contains("\($0) is cut off") } ?? false)
        }
        let isUnsaid = cutOff != nil && issues.count == usage.issues.count
        return lines.sorted() + issues + (isUnsaid ? ["it is not said what is cut off"] : [])
            + (usage.isPartial ? ["read in part"] : [])
    }

    private static func line(_ sum: Sum?) -> String {
        guard let sum else { return "nothing" }
        let dollars = [CostMode.calculate, .display].map { sum.cost.dollars($0) }
        return "\(sum.requestCount) × \(sum.counts), $\(dollars[0]) calculated, $\(dollars[1]) stated"
    }

    private func name(of session: String) -> String { indistinguishable[session] ?? session }
}

extension TrueHistory.Key: CustomStringConvertible {
    var description: String {
        let time = Date(timeIntervalSince1970: Double(quarter) * 900).formatted(.iso8601)
        return [time, session, project, model, "\(tier)", isCoarse ? "coarse" : nil]
            .compactMap { $0 }.joined(separator: " ")
    }
}
