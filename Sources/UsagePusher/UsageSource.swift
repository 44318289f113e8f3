// From the files of other tools to a snapshot: sources, scanning, watching, what to push and when, and edits of the
// tools' settings. Not here: the store that a snapshot is put into, and command lines (usage-push).

public import Essentials
import LocalFiles
public import SnapshotModels

/// Reads the limits of one tool from that tool's own files.
///
/// A source never writes, never uses the network, never copies a credential into its output, and
/// bounds what it reads by `SourceEnvironment.limits`. What it remembers between two reads (offsets,
/// file identities) makes the next read cheaper and never changes its result.
///
/// ```swift
/// struct ExampleSource: UsageSource {
///     let providerID = "example"
///     let providerName = "Example"
///
///     func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
///         [WatchedPath(environment.home + "/.example")]
///     }
///
///     func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
///         let path = environment.home + "/.example"
///         let file = FileHandle(forReadingAtPath: path)
///         guard let data = try? file?.read(upToCount: environment.limits.documentByteCount),
///             let percent = Double(String(decoding: data, as: UTF8.self))
///         else { return SourceReading(isInstalled: false) }
///         let card = ProviderUsageSnapshot(
///             providerID: providerID, providerName: providerName, primary: SyncRateWindow(usedPercent: percent),
///             lastUpdated: now)
///         let finding = SourceFinding(path: path, title: "Example", certainty: .exact, detail: "\(percent) % used")
///         return SourceReading(isInstalled: true, providers: [card], findings: [finding])
///     }
/// }
/// ```
public protocol UsageSource: Sendable {
    /// CodexBar's provider id.
    var providerID: String { get }
    var providerName: String { get }
    /// The tool's own name; the provider's unless stated.
    var toolName: String { get }

    /// The environment variables that say where the tool's files are; a background service gets them too.
    var variables: [String] { get }

    /// Names in a home directory of the tool that only the tool creates. None for a tool that cannot have several
    /// homes.
    var homeMarks: [String] { get }
    /// Further names that tell that a home with the tool's usual name is in use.
    var homeSettings: [String] { get }
    /// The homes that the tool itself uses, present or not; further ones are in `environment.additionalHomes`.
    func ownHomes(in environment: SourceEnvironment) -> [String]

    /// Files and directories whose change may change the reading, present or not.
    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath]

    /// Seconds from one read to the next while the files change all the time, as those of a database do.
    var readInterval: Double { get }

    /// Reads the tool's files, on the caller's thread. Failures are findings.
    mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading
}

extension UsageSource {
    public var toolName: String { providerName }
    public var variables: [String] { [] }
    public var homeMarks: [String] { [] }
    public var homeSettings: [String] { [] }
    public func ownHomes(in environment: SourceEnvironment) -> [String] { [] }
    public var readInterval: Double { 0 }
}

/// Where a source looks and how much it may read.
///
/// ```swift
/// var environment = SourceEnvironment(home: home)
/// environment.limits.fileCount = 1_000
/// environment.explains = true
/// var claude = ClaudeSource()
/// for one in claude.read(in: environment, at: now).considered { print(one.statement, one.isShown, one.reason) }
/// ```
public struct SourceEnvironment: Sendable {
    /// The absolute path of the home directory.
    public var home: String
    /// Environment variables (CODEX_HOME, CLAUDE_CONFIG_DIR, XDG_…).
    public var variables: [String: String]
    /// Absolute paths of further homes of the tools, by provider id.
    public var additionalHomes: [String: [String]] = [:]
    /// The plug-ins that the user has enabled, by name.
    package var plugins: [String: EnabledPlugin] = [:]
    /// The tools that are asked themselves, by provider id.
    package var asking: [String: AskSettings] = [:]
    public var limits: ScanLimits
    /// Which accounts have been logged in.
    public var accounts = AccountHistory()
    /// Whether sums of tokens are kept in `stateDirectory`, which makes the next reading cheap. Not in another user's
    /// home.
    public var keepsCache = false
    /// Whether readings explain themselves, which costs time.
    public var explains = false
    /// Seconds on a clock that never steps, for `ScanLimits.seconds`.
    public var monotonicSeconds: @Sendable () -> Double = { ProcessInfo.processInfo.systemUptime }

    public init(home: String, variables: [String: String] = [:], limits: ScanLimits = .init()) {
        self.home = home
        self.variables = variables
        self.limits = limits
    }

    /// This product's own.
    private var directories: UserDirectories {
        UserDirectories(environment: variables.merging(["HOME": home]) { $1 })
    }

    package var stateDirectory: String { directories.state }
    var configurationDirectory: String { directories.config }

    /// `$XDG_DATA_HOME`, by default `~/.local/share`.
    var dataHome: String { absolutePath(variable: "XDG_DATA_HOME") ?? home + "/.local/share" }

    /// `$XDG_CONFIG_HOME`, by default `~/.config`.
    var configurationHome: String {
        absolutePath(variable: "XDG_CONFIG_HOME") ?? home + "/.config"
    }

    /// Where programs of macOS keep their data.
    var applicationSupport: String { home + "/Library/Application Support" }

    /// Where desktop programs keep their data on Linux and on macOS.
    var applicationData: [String] { [configurationHome, applicationSupport] }

    /// A variable's value as an absolute path without a trailing slash; "~/" is expanded. Nil when
    /// it is unset or relative: that would be relative to the tool's working directory.
    func absolutePath(variable: String) -> String? {
        variables[variable].flatMap { absolutePath($0) }
    }

    func absolutePath(_ text: String) -> String? {
        var path = text.trimmed()
        if path == "~" || path.hasPrefix("~/") { path = home + path.dropFirst() }
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path.hasPrefix("/") && !path.contains("\0") ? path : nil
    }
}

/// What one pass over a source may cost.
///
/// For an example see `SourceEnvironment`.
public struct ScanLimits: Sendable, Equatable {
    /// Directory entries listed.
    public var entryCount = 50_000
    /// Levels of directories below a root.
    public var depth = 12
    /// Files opened.
    public var fileCount = 200
    /// Bytes read from all files; of a compressed file those that it contains.
    public var byteCount = 64 * 1_024 * 1_024
    /// Bytes decompressed from one file; what follows them is not read.
    public var decompressedByteCount = 32 * 1_024 * 1_024
    /// Length of a line, or of a value in a database; a longer one is skipped.
    public var lineByteCount = 1_048_576
    /// Size of a JSON file that is read as a whole.
    public var documentByteCount = 8 * 1_024 * 1_024
    /// Size of a JSON file of which some members are read.
    public var objectByteCount = 1_024 * 1_024 * 1_024
    /// Instructions that SQLite executes in one database.
    public var stepCount = 20_000_000
    /// Seconds after which a pass ends with what it has.
    public var seconds = 5.0

    public init() {}
}

/// A path to watch.
///
/// For an example see `UsageSource`.
public struct WatchedPath: Sendable, Hashable {
    public var path: String
    /// Whether directories below it are watched too.
    public var isRecursive: Bool

    public init(_ path: String, isRecursive: Bool = false) {
        self.path = path
        self.isRecursive = isRecursive
    }
}

/// How certain a number is.
///
/// For an example see `UsageSource`.
public enum SourceCertainty: String, Sendable, Encodable {
    /// The provider's own number, reported as it changes.
    case exact
    /// The provider's own number, as old as its observation time.
    case cachedExact = "cached-exact"
    /// Calculated here from what the tool recorded on this machine; the provider's own number may differ.
    case estimated
}

/// What a source found at one path, or why it found nothing. Its fields are a stable JSON format.
///
/// For an example see `UsageSource`.
public struct SourceFinding: Sendable, Equatable, Encodable {
    public var path: String
    /// What is there: "Codex sessions", "Claude login".
    public var title: String
    /// Nil without a usable number.
    public var certainty: SourceCertainty?
    /// When the newest usable number was observed.
    public var observedAt: Date?
    /// The numbers, or why there are none; never contains a secret or a file's raw content.
    public var detail: String
    /// Whether it could not be read, so that there may be more than was found.
    public var isError: Bool

    public init(
        path: String, title: String, certainty: SourceCertainty? = nil, observedAt: Date? = nil,
        detail: String, isError: Bool = false
    ) {
        self.path = path
        self.title = title
        self.certainty = certainty
        self.observedAt = observedAt
        self.detail = detail
        self.isError = isError
    }
}

/// The result of one pass over a source.
///
/// For an example see `UsageSource`.
public struct SourceReading: Sendable, Equatable {
    /// Whether the tool is present on this machine.
    public var isInstalled: Bool
    /// What to push: a card for each account, the one that is logged in first.
    public var providers: [ProviderUsageSnapshot]
    public var findings: [SourceFinding]
    /// The environment's, with the accounts that were found now.
    public var accounts: AccountHistory?
    /// With `SourceEnvironment.explains`: what was considered, newest first.
    public var considered: [ConsideredReading] = []
    /// Whether a limit ended the pass early: the reading may be older than the files.
    public var isPartial: Bool

    public init(
        isInstalled: Bool, providers: [ProviderUsageSnapshot] = [], findings: [SourceFinding] = [],
        accounts: AccountHistory? = nil, isPartial: Bool = false
    ) {
        self.isInstalled = isInstalled
        self.providers = providers
        self.findings = findings
        self.accounts = accounts
        self.isPartial = isPartial
    }

    /// The card of the account that is logged in.
    var provider: ProviderUsageSnapshot? { providers.first }
}
