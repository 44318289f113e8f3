import Foundation
import LocalFiles
import SnapshotModels

/// A tool that states the tokens of its requests. Without limits of its own, `tokenLogs` is all that it needs.
protocol TokenRecording: UsageSource {
    var tokenLogs: [any TokenLog] { get }
}

extension TokenRecording {
    public func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        watchedLogs(in: environment)
    }

    func watchedLogs(in environment: SourceEnvironment) -> [WatchedPath] {
        tokenLogs.flatMap { $0.watchedPaths(in: environment) }
    }

    public func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        presence(in: environment)
    }

    /// The reading of a tool whose files state no limits: whether it is there, and its account.
    ///
    /// - Parameter account: what the tool's files say about who is logged in; only named fields, never a secret.
    func presence(
        in environment: SourceEnvironment, account: TokenAccount? = nil
    ) -> SourceReading {
        var reading = SourceReading(isInstalled: account != nil)
        for path in tokenLogs.flatMap({ $0.places(in: environment) }) {
            let title = "\(toolName) usage"
            do throws(FileError) {
                guard try FileStatus(path: path) != nil else { continue }
                reading.isInstalled = true
                reading.findings.append(
                    SourceFinding(
                        path: path, title: title,
                        detail: "tokens, but no limits; to see them, run: usage-push report"))
            } catch {
                if error.showsPresence { reading.isInstalled = true }
                reading.findings.append(error.finding(title: title))
            }
        }
        if let account {
            reading.providers = [
                ProviderUsageSnapshot(
                    providerID: providerID, providerName: providerName,
                    accountEmail: account.email?.displayText(),
                    loginMethod: account.plan?.displayText(limit: 64), lastUpdated: account.seenAt)
            ]
        }
        return reading
    }
}

/// Who is logged in to a tool.
struct TokenAccount {
    var email: String?
    /// As it is shown.
    var plan: String?
    /// When the file that says so was written.
    var seenAt: Date
}

extension TokenLedger {
    /// The sums of all tools, or of the providers with these ids.
    ///
    /// A cache is of the tools that it was made for: with others it is made again.
    package init(of providers: [String] = [], in environment: SourceEnvironment) {
        let sources = UsageSources.all.filter {
            providers.isEmpty || providers.contains($0.providerID)
        }
        self.init(
            logs: sources.flatMap { ($0 as? any TokenRecording)?.tokenLogs ?? [] },
            environment: environment)
    }
}
