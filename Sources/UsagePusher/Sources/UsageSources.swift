/// The tools whose limits are read.
public enum UsageSources {
    /// In the order in which they are shown.
    public static var all: [any UsageSource] { [ClaudeSource(), CodexSource()] }
}
