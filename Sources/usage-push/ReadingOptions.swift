import ArgumentParser
import CommandSupport
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

    static var providerIDs: [String] { sources.map(\.providerID) }

    /// This user's home directory and variables.
    static var ownEnvironment: SourceEnvironment {
        SourceEnvironment(
            home: UserDirectories().home, variables: ProcessInfo.processInfo.environment)
    }

    /// The same with the configured homes. What is wrong with the configuration is reported.
    private static var configuredEnvironment: SourceEnvironment {
        var environment = ownEnvironment
        do throws(PusherConfigurationFile.Failure) {
            let (configuration, issues) = try PusherConfigurationFile().read()
            for issue in issues { Console.report(issue) }
            environment.additionalHomes = configuration.homes
        } catch {
            Console.report(error.description)
        }
        return environment
    }

    func validate() throws {
        if let home, (try? FileStatus(path: home))?.kind != .directory {
            throw ValidationError("No directory '\(VisibleText.escape(home))'.")
        }
        let known = Self.providerIDs
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
            } ?? Self.configuredEnvironment,
            device: device, appVersion: ProgramVersion.text)
    }
}
