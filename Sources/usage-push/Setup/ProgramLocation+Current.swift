import ArgumentParser
import Foundation
import UsagePusher

extension ProgramLocation {
    /// This program.
    static var current: ProgramLocation {
        ProgramLocation(
            executable: Bundle.main.executablePath ?? CommandLine.arguments[0],
            name: UsagePush.configuration.commandName ?? "",
            searchPath: ProcessInfo.processInfo.environment["PATH"] ?? "")
    }
}
