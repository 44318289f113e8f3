/// A tool that also states the tokens of its requests.
protocol TokenRecording: UsageSource {
    var tokenLogs: [any TokenLog] { get }
}

extension TokenLedger {
    /// The sums of all tools, or of the providers with these ids.
    package init(of providers: [String] = [], in environment: SourceEnvironment) {
        let sources = UsageSources.all.filter {
            providers.isEmpty || providers.contains($0.providerID)
        }
        self.init(
            logs: sources.flatMap { ($0 as? any TokenRecording)?.tokenLogs ?? [] },
            environment: environment)
    }
}
