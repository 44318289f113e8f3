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
