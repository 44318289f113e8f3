public import Foundation
import LocalFiles

/// Reads the credits of Kiro's sessions, of its command line and its editor. Neither tokens nor the allowance are in them.
public struct KiroSource: UsageSource {
    public let providerID = "kiro"
    public let providerName = "Kiro"

    private var files = CreditFiles()

    public init() {}

    /// The sessions, the command line's database, and what the editor kept before 2026.
    private func roots(in environment: SourceEnvironment) -> [String] {
        let home = environment.absolutePath(variable: "KIRO_HOME") ?? environment.home + "/.kiro"
        let data = ["/.local/share", "/Library/Application Support"].map {
            environment.home + $0 + "/kiro-cli/data.sqlite3"
        }
        let storage =
            EditorStorage.applicationData(in: environment).map { $0 + "/Kiro" }
            + [environment.home + "/.kiro-server/data"]
        return [home + "/sessions"] + data
            + storage.map { $0 + "/User/globalStorage/kiro.kiroagent" }
    }

    public func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        roots(in: environment).map { WatchedPath($0, isRecursive: true) }
    }

    public mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        readCredits(
            &files, roots: roots(in: environment), title: "Kiro credits", in: environment,
            at: now, isWanted: KiroCredits.isWanted
        ) { file, budget throws(FileError) in try KiroCredits.content(of: file, &budget) }
    }
}
