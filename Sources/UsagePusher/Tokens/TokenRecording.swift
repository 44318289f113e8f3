import Essentials
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
        presence(in: environment, at: now)
    }

    /// The reading of a tool whose files state no limits: whether it is there, and its account.
    ///
    /// - Parameter account: what the tool's files say about who is logged in; only named fields, never a secret.
    func presence(
        in environment: SourceEnvironment, at now: Date,
        account: () throws(FileError) -> TokenAccount? = { () throws(FileError) in nil }
    ) -> SourceReading {
        var reading = SourceReading(isInstalled: false)
        var login: TokenAccount?
        do throws(FileError) {
            login = try account()
            reading.isInstalled = login != nil
        } catch {
            reading.isInstalled = error.showsPresence
            reading.findings.append(error.finding(title: "\(toolName) login"))
        }
        for path in tokenLogs.flatMap({ $0.places(in: environment) }) {
            let title = "\(toolName) usage"
            do throws(FileError) {
                guard let status = try FileStatus(path: path) else { continue }
                reading.isInstalled = true
                if status.kind == .directory {
                    _ = try LocalDirectory(path).entries(limit: 1)
                } else {
                    try LocalFile(path).withOpen { _ in }
                }
                reading.findings.append(
                    SourceFinding(
                        path: path, title: title, detail: "tokens, but no limits; to see them, run: usage-push report"))
            } catch {
                if error.showsPresence { reading.isInstalled = true }
                reading.findings.append(error.finding(title: title))
            }
        }
        let card = login.map { account in
            AccountCard(
                snapshot: ProviderUsageSnapshot(
                    providerID: providerID, providerName: providerName, accountEmail: account.email?.displayText(),
                    loginMethod: account.plan?.displayText(limit: 64), lastUpdated: account.seenAt))
        }
        if reading.isInstalled {
            reading.providers = cards([card].compactMap { $0 }, issues: reading.issues, at: now).map(\.snapshot)
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
        self.init(logs: sources.flatMap { ($0 as? any TokenRecording)?.tokenLogs ?? [] }, environment: environment)
    }
}
