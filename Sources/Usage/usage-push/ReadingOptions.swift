import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import LocalFiles
import TerminalText
import UsagePusher

/// Which tools' files are read, and where.
struct ReadingOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read only this provider's tool; may be repeated.", valueName: "id"))
    var provider: [String] = []

    @OptionGroup var place: HomeOption

    var home: String? { place.home }

    /// This user's home directory and variables.
    static var ownEnvironment: SourceEnvironment {
        SourceEnvironment(home: UserDirectories().home, variables: ProcessInfo.processInfo.environment)
    }

    func validate() throws {
        for id in provider { try ReportOptions.requireKnown(id) }
    }

    func builder(device: DeviceIdentity) -> SnapshotBuilder { Self.builder(of: provider, in: place, device: device) }

    /// - Parameter providers: ids; none for all.
    static func builder(of providers: [String], in place: HomeOption, device: DeviceIdentity) -> SnapshotBuilder {
        SnapshotBuilder(
            sources: UsageSources.all.filter { providers.isEmpty || providers.contains($0.providerID) },
            environment: place.environment, device: device, appVersion: ProgramVersion.text)
    }
}

/// The home directory that is read.
struct HomeOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the tools' files in this home directory instead of your own.",
            discussion: "Variables such as CODEX_HOME are then ignored.", valueName: "directory"))
    var home: String?

    func validate() throws {
        // Whatever is wrong, it is no directory to read.
        if let home, (try? FileStatus(path: home))?.kind != .directory {
            throw ValidationError("No directory '\(VisibleText.escape(home))'.")
        }
    }

    var environment: SourceEnvironment {
        home.map { SourceEnvironment(home: URL(fileURLWithPath: $0).standardizedFileURL.path) } ?? Self.configured
    }

    /// This user's, with the configured homes. What is wrong with the configuration is reported.
    private static var configured: SourceEnvironment {
        var environment = ReadingOptions.ownEnvironment
        environment.keepsCache = true
        do throws(FileError) {
            let (configuration, issues) = try PusherConfigurationFile().read()
            for issue in issues { Console.report(issue) }
            environment.additionalHomes = configuration.homes
            environment.plugins = configuration.plugins
            environment.asking = configuration.asking
        } catch {
            Console.report(error.description)
        }
        return environment
    }
}
