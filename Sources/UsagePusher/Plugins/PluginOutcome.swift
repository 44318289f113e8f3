import Commands
import Essentials
import LocalFiles
import SnapshotModels

/// What the runs of a plug-in have given, kept between runs in `plugins/NAME.json` of the state directory, mode 0600.
struct PluginOutcome: Codable, Sendable, Equatable {
    /// When the last run ended.
    var ranAt: Date
    /// Why it gave no document; the cards are then those of an earlier run.
    var failure: String?
    var providers: [ProviderUsageSnapshot] = []
    /// Fit to be shown.
    var issues: [String] = []

    private static let byteLimit = 1_048_576

    static func directory(_ environment: SourceEnvironment) -> String {
        environment.stateDirectory + "/plugins"
    }

    private static func file(_ name: String, _ environment: SourceEnvironment) -> LocalFile {
        LocalFile(directory(environment) + "/\(name).json")
    }

    /// Nil when it has not run.
    static func read(_ name: String, in environment: SourceEnvironment) throws(FileError) -> PluginOutcome? {
        let file = file(name, environment)
        guard let content = try file.read(byteLimit: byteLimit) else { return nil }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        // The decoder's reason would show what a plug-in has printed.
        guard let outcome = try? decoder.decode(PluginOutcome.self, from: content.data) else {
            throw FileError(
                operation: "read", path: file.path, cause: .invalid("it is no outcome of a plug-in; remove it"))
        }
        return outcome
    }

    func write(_ name: String, in environment: SourceEnvironment) throws(FileError) {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        // Fails only for numbers that JSON cannot write.
        guard let data = try? encoder.encode(self) else { preconditionFailure("numbers of a JSON document are finite") }
        try Self.file(name, environment).replace(with: data, durability: .cached)
    }

    /// The outcome of a run that follows `earlier`. The document counts whatever the exit status is: CodexBar prints it
    /// also when a provider failed. A card stays if its provider has failed this time.
    init(_ process: BoundedProcess, seconds: Int, following earlier: PluginOutcome?, at now: Date) {
        ranAt = now
        let firstLine = process.firstErrorLine
        var reason: String?
        switch process.end {
        case .exited(0): break
        case .exited(let status): reason = "exit status \(status)"
        case .outOfTime: reason = "stopped after \(seconds) s"
        case .tooMuchOutput: reason = "stopped, since it printed more than 1 MiB"
        case .cancelled: reason = "stopped with this program"
        case .notStarted(let code): reason = "cannot be started: " + String(cString: strerror(code))
        }
        if let stated = reason ?? (firstLine == nil ? nil : "standard error") {
            issues = [stated + (firstLine.map { ": \($0)" } ?? "")]
        }
        let former = earlier?.providers ?? []
        guard let document = ProviderDocument(process.output, observedAt: now) else {
            failure = issues.first ?? ""
            if reason == nil {
                failure =
                    "it printed no JSON document"
                    + (firstLine.map { "; standard error: \($0)" } ?? "")
            }
            issues = []
            providers = former
            return
        }
        issues = document.issues + issues
        let stated = Set(document.providers.map(\.providerID))
        providers =
            document.providers
            + former.filter {
                !stated.contains($0.providerID) && document.hasFailed($0.providerID)
            }
    }
}

extension BoundedProcess {
    /// The first line of its standard error that has a text, without what looks like a credential.
    package var firstErrorLine: String? {
        String(decoding: errors, as: UTF8.self).split(whereSeparator: \.isNewline).lazy
            .compactMap { SecretMask.masked(String($0)).displayText(limit: 200) }.first
    }
}
