import ArgumentParser
import Foundation
import KVStore
import LocalFiles
import TerminalText
import UsagePusher

/// Which tools' files are read, and where.
struct ReadingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read only this provider's tool; may be repeated.", valueName: "id"))
    var provider: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read the tools' files in this home directory instead of your own.",
            discussion: "Variables such as CODEX_HOME are then ignored.", valueName: "directory"))
    var home: String?

    /// In the order in which they are shown.
    private static var sources: [any UsageSource] { [ClaudeSource(), CodexSource()] }

    /// This user's home directory and variables.
    static var ownEnvironment: SourceEnvironment {
        SourceEnvironment(
            home: UserDirectories().home, variables: ProcessInfo.processInfo.environment)
    }

    func validate() throws {
        if let home, (try? FileStatus(path: home))?.kind != .directory {
            throw ValidationError("No directory '\(VisibleText.escape(home))'.")
        }
        let known = Self.sources.map(\.providerID)
        for id in provider where !known.contains(id) {
            throw ValidationError(
                "Unknown provider '\(VisibleText.escape(id))': use "
                    + known.joined(separator: " or ") + ".")
        }
    }

    func builder(device: DeviceIdentity) -> SnapshotBuilder {
        SnapshotBuilder(
            sources: Self.sources.filter {
                provider.isEmpty || provider.contains($0.providerID)
            },
            environment: home.map {
                SourceEnvironment(home: URL(fileURLWithPath: $0).standardizedFileURL.path)
            } ?? Self.ownEnvironment,
            device: device, appVersion: ProgramVersion.text)
    }
}
