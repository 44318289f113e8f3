import Foundation
import LocalFiles

@testable import UsagePusher

/// A home whose tokens are read, and a state directory for the cache.
final class TokenHome {
    let home: SampleHome
    private let state: SampleHome
    private let logs: [any TokenLog]

    init(copying name: String? = nil, logs: [any TokenLog]) throws {
        home = try SampleHome(copying: name)
        state = try SampleHome()
        self.logs = logs
    }

    var cachePath: String { state.path("ubiquity/tokens.cache") }

    /// - Parameters:
    ///   - keepsCache: false to read everything, as if there had been no earlier reading.
    ///   - progress: see `TokenLedger.Options`.
    func usage(
        keepsCache: Bool = true, _ variables: [String: String] = [:],
        progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
    ) -> TokenUsage {
        var environment = home.environment(variables.merging(["XDG_STATE_HOME": state.path]) { $1 })
        environment.keepsCache = keepsCache
        var options = TokenLedger.Options()
        options.progress = progress
        return TokenLedger(logs: logs, environment: environment)
            .update(in: environment, prices: .packaged, options: options)
    }
}

extension TokenUsage {
    /// A line for each session, quarter of an hour and model, in an order that is the same in every run:
    /// "claude s1 -home-dev-alpha claude-opus-5: 1 request, input 12, output 180, read 9000, write 400".
    var summary: [String] {
        buckets.map { bucket in
            let session = session(of: bucket)
            let names = [session.source, session.id, session.project, model(of: bucket)]
            return names.compactMap { $0 }.joined(separator: " ") + ": \(bucket.requestCount) × "
                + bucket.counts.summary
                + (bucket.key.tier == .standard ? "" : " \(bucket.key.tier)")
        }.sorted()
    }

    var total: TokenCounts { buckets.reduce(into: TokenCounts()) { $0 += $1.counts } }
    var requestCount: Int { buckets.reduce(0) { $0 + $1.requestCount } }
}

extension TokenCounts {
    /// "input 12, output 180 (reasoning 3), read 9000, write 400 + 20, searches 1", without what is 0.
    var summary: String {
        let writes =
            cacheWrite == 0
            ? nil : "write \(cacheWrite5m)" + (cacheWrite1h > 0 ? " + \(cacheWrite1h)" : "")
        let parts = [
            input > 0 ? "input \(input)" : nil,
            output > 0 ? "output \(output)" + (reasoning > 0 ? " (reasoning \(reasoning))" : "") : nil,
            cacheRead > 0 ? "read \(cacheRead)" : nil, writes,
            webSearches > 0 ? "searches \(webSearches)" : nil,
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }
}
