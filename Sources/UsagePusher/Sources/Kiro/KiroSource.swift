import Essentials
import LocalFiles
import SQLiteReading

/// Reads the credits of Kiro's sessions, of its command line and its editor. Neither tokens nor the allowance are in
/// them.
struct KiroSource: UsageSource {
    let providerID = "kiro"
    let providerName = "Kiro"
    let variables = ["KIRO_HOME"]

    private var files = CreditFiles()

    /// Those of the command line.
    private func databases(in environment: SourceEnvironment) -> [String] {
        [environment.home + "/.local/share", environment.applicationSupport].map {
            $0 + "/kiro-cli/data.sqlite3"
        }
    }

    /// The sessions, the command line's database, and what the editor kept before 2026.
    private func roots(in environment: SourceEnvironment) -> [String] {
        let home = environment.absolutePath(variable: "KIRO_HOME") ?? environment.home + "/.kiro"
        let storage =
            environment.applicationData.map { $0 + "/Kiro" }
            + [environment.home + "/.kiro-server/data"]
        return [home + "/sessions"] + databases(in: environment)
            + storage.map { $0 + "/User/globalStorage/kiro.kiroagent" }
    }

    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        let databases = databases(in: environment)
        return roots(in: environment).flatMap { root in
            databases.contains(root) ? SQLiteFiles.watchedPaths(of: [root]) : [WatchedPath(root, isRecursive: true)]
        }
    }

    mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        readCredits(
            &files, roots: roots(in: environment), title: "Kiro credits", in: environment,
            at: now, isWanted: KiroCredits.isWanted
        ) { file, budget throws(FileError) in try KiroCredits.content(of: file, &budget) }
    }
}
