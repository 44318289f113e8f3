import ArgumentParser
import Foundation
import KVStore
import TerminalText
import UsagePusher

/// Which tools' files are read, and where.
struct ReadingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read only this provider's tool; may be given several times.", valueName: "id"))
    var provider: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read the tools in this home folder instead of your own.",
            discussion: "Variables such as CODEX_HOME do not count then.", valueName: "folder"))
    var home: String?

    var environment: SourceEnvironment {
        if let home {
            return SourceEnvironment(home: URL(fileURLWithPath: home).standardizedFileURL.path)
        }
        return Self.ownEnvironment
    }

    /// This user's home folder and variables.
    static var ownEnvironment: SourceEnvironment {
        let variables = ProcessInfo.processInfo.environment
        return SourceEnvironment(
            home: variables["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory(),
            variables: variables)
    }

    func validate() throws {
        if let home {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: home, isDirectory: &isFolder),
                isFolder.boolValue
            else { throw ValidationError("there is no folder '\(VisibleText.escape(home))'.") }
        }
        let known = Set(LocalSources.all.map(\.providerID))
        for id in provider where !known.contains(id) {
            throw ValidationError(
                "'\(VisibleText.escape(id))' is not read here; known are "
                    + known.sorted().joined(separator: ", ") + ".")
        }
    }

    func builder(device: DeviceIdentity) throws -> SnapshotBuilder {
        SnapshotBuilder(
            sources: LocalSources.all.filter {
                provider.isEmpty || provider.contains($0.providerID)
            },
            environment: environment, device: device, appVersion: ProgramVersion.text)
    }
}
