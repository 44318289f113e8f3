import Foundation

@testable import UsagePusher

extension TokenUsage {
    /// A line for each bucket, in an order that is the same in every run: "2026-11-20T09:00:05Z s1 in /src/app, gpt-5:
    /// in 4000, read 8000, out 770, 420 of it reasoning".
    var sums: [String] {
        buckets.map { bucket in
            let time = Date(timeIntervalSince1970: Double(bucket.first) / 1_000)
            let session = session(of: bucket)
            let project = session.project.map { " in \($0)" } ?? ""
            return
                "\(time.formatted(.iso8601)) \(session.id)\(project), \(model(of: bucket) ?? "no model"): "
                + parts(of: bucket).joined(separator: ", ")
        }.sorted()
    }

    /// The sums; then what was left out.
    var lines: [String] {
        sums + leftOut.map { "left out \($0.count) of \($0.path)" } + issues.sorted()
            + (isPartial ? ["read in part"] : [])
    }

    private func parts(of bucket: TokenBucket) -> [String] {
        let counts = bucket.counts
        let numbers = [
            ("in", counts.input), ("read", counts.cacheRead), ("write", counts.cacheWrite5m),
            ("write for an hour", counts.cacheWrite1h), ("out", counts.output),
        ].filter { $0.1 != 0 }.map { "\($0.0) \($0.1)" }
        let own = bucket.cost.dollars(.display)
        return numbers
            + [
                counts.reasoning > 0 ? "\(counts.reasoning) of it reasoning" : nil,
                counts.webSearches > 0 ? "\(counts.webSearches) searches" : nil,
                own > 0 ? "$\(own) of its own" : nil,
                bucket.requestCount > 1 ? "\(bucket.requestCount) requests" : nil,
                bucket.key.tier == .standard ? nil : "\(bucket.key.tier)",
                bucket.key.isCoarse ? "coarse" : nil,
            ].compactMap { $0 }
    }
}

extension TokenUsage {
    /// By quarter of an hour and model, of all sessions: which of two has what a copy without a mark repeats depends
    /// on which file was seen first.
    var totals: Set<TokenBucket> {
        let buckets = buckets.map { bucket in
            var bucket = bucket
            (bucket.key.session, bucket.fingerprint) = (0, 0)
            return bucket
        }
        var sums = TokenBuckets()
        for bucket in buckets { sums.add(bucket) }
        return Set(sums.buckets)
    }

    var total: TokenCounts { buckets.reduce(into: TokenCounts()) { $0 += $1.counts } }
    var requestCount: Int { buckets.reduce(0) { $0 + $1.requestCount } }
}

extension SampleHome {
    /// What the tokens of a tool in this home are, as `TokenUsage.lines` writes them.
    ///
    /// - Parameter state: where they are kept from one reading to the next.
    func tokens(
        of provider: String, _ variables: [String: String] = [:], keepingIn state: SampleHome? = nil
    ) -> [String] {
        var environment = environment(variables)
        if let state {
            environment.variables["XDG_STATE_HOME"] = state.path
            environment.keepsCache = true
        }
        return TokenLedger(of: [provider], in: environment)
            .update(in: environment, prices: .packaged).lines
            .map { $0.replacing(path, with: "~") }
    }
}
