import ClockZones
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
        var options = TokenLedger.Options()
        options.progress = progress
        let environment = environment(keepsCache: keepsCache, variables)
        return TokenLedger(logs: logs, environment: environment)
            .update(in: environment, prices: .packaged, options: options)
    }

    private func environment(keepsCache: Bool = true, _ variables: [String: String] = [:]) -> SourceEnvironment {
        var environment = home.environment(variables.merging(["XDG_STATE_HOME": state.path]) { $1 })
        environment.keepsCache = keepsCache
        return environment
    }

    /// Publishes what is used, as a push does.
    ///
    /// - Parameters:
    ///   - store: the ledger of all machines.
    ///   - today: since 1970.
    func push(as device: String, to store: inout [String: Data], today: Int) throws {
        let environment = environment()
        let ledger = TokenLedger(logs: logs, environment: environment)
        let orphans = LedgerOrphansFile(environment)
        var projects = LedgerProjects(home: home.path, disclosure: .none)
        var publication = LedgerPublication(
            device: device, today: today, zone: .gmt, stored: LedgerPages(store), orphans: orphans.read())
        let changes = publication.changes(
            ledger.update(in: environment, prices: .packaged), &projects, copies: ledger.copies,
            requests: { ledger.requests(of: $0, prices: .packaged, zone: .gmt) })
        try orphans.write(publication.orphans)
        for (key, value) in changes { store[key] = value }
    }
}
