public import Foundation
public import SnapshotModels

/// Reads one tool's own files and says what they tell about its limits.
///
/// A source never writes, never goes to the network, never follows a credential into its output,
/// and bounds what it reads by `SourceEnvironment.limits`. A source is a value: what it remembers
/// between two reads (parsed offsets, file identities) makes the next read cheaper and never
/// changes its answer.
public protocol UsageSource: Sendable {
    /// CodexBar's provider id.
    var providerID: String { get }
    var providerName: String { get }

    /// Files and folders whose change can change the reading, present or not.
    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath]

    /// Reads the tool's files once. Never throws: what went wrong is a finding.
    mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading
}

/// Where a source looks, injected so that tests can point it anywhere.
public struct SourceEnvironment: Sendable {
    /// The home folder, absolute.
    public var home: String
    /// Environment variables (CODEX_HOME, CLAUDE_CONFIG_DIR, XDG_…).
    public var variables: [String: String]
    public var limits: ScanLimits
    /// Seconds of a clock that never steps, for `ScanLimits.seconds`.
    public var monotonicSeconds: @Sendable () -> Double = { ScanSystem.monotonicSeconds() }

    public init(home: String, variables: [String: String] = [:], limits: ScanLimits = .init()) {
        self.home = home
        self.variables = variables
        self.limits = limits
    }
}

/// What a pass over one source may cost.
public struct ScanLimits: Sendable, Equatable {
    /// Files and folders looked at in one pass.
    public var entryCount = 50_000
    /// Depth of folders below a root.
    public var depth = 12
    /// Files opened in one pass.
    public var fileCount = 200
    /// Bytes read in one pass, over all files.
    public var byteCount = 64 * 1_024 * 1_024
    /// Longest line that is kept; a longer one is skipped.
    public var lineByteCount = 1_048_576
    /// Largest document (a JSON file read whole).
    public var documentByteCount = 8 * 1_024 * 1_024
    /// Seconds after which a pass ends with what it has.
    public var seconds = 5.0

    public init() {}
}

/// A path to watch.
public struct WatchedPath: Sendable, Hashable {
    public var path: String
    /// Whether folders below it count too.
    public var isRecursive: Bool

    public init(_ path: String, isRecursive: Bool = false) {
        self.path = path
        self.isRecursive = isRecursive
    }
}

/// How far a number can be trusted.
public enum SourceCertainty: String, Sendable, Codable, CaseIterable {
    /// The provider's own number, reported as it happens.
    case exact
    /// The provider's own number, as old as its observation time.
    case cachedExact = "cached-exact"
    /// Computed here against an assumed limit.
    case estimate
    /// Tokens are known; no honest percent exists.
    case tokensOnly = "tokens-only"
}

/// What one place on disk told, or why it told nothing.
public struct SourceFinding: Sendable, Equatable {
    public var path: String
    /// What it is, in words: "Codex sessions", "statusline capture".
    public var title: String
    /// Nil when nothing usable was found.
    public var certainty: SourceCertainty?
    /// When the newest usable number was observed.
    public var observedAt: Date?
    /// What it says, or why there is no percent; never holds a secret or a file's raw content.
    public var detail: String

    public init(
        path: String, title: String, certainty: SourceCertainty? = nil, observedAt: Date? = nil,
        detail: String
    ) {
        self.path = path
        self.title = title
        self.certainty = certainty
        self.observedAt = observedAt
        self.detail = detail
    }
}

/// The outcome of one pass over a source.
public struct SourceReading: Sendable, Equatable {
    /// Whether the tool is present on this machine at all.
    public var isInstalled: Bool
    /// What to push; nil when there is nothing to say about the provider.
    public var provider: ProviderUsageSnapshot?
    public var findings: [SourceFinding]
    /// True when a limit ended the pass early: the reading may be older than the files.
    public var isPartial: Bool

    public init(
        isInstalled: Bool, provider: ProviderUsageSnapshot? = nil,
        findings: [SourceFinding] = [], isPartial: Bool = false
    ) {
        self.isInstalled = isInstalled
        self.provider = provider
        self.findings = findings
        self.isPartial = isPartial
    }
}
