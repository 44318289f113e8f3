import UsagePusher

/// The tools that are read, in the order in which they are shown.
enum LocalSources {
    static var all: [any UsageSource] { [ClaudeSource(), CodexSource()] }
}
