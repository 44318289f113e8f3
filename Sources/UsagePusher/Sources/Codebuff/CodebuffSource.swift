import Essentials
import LocalFiles

/// Reads the credits of Codebuff's chats. Tokens are not in them.
struct CodebuffSource: UsageSource {
    let providerID = "codebuff"
    let providerName = "Codebuff"

    private var files = CreditFiles()
    private static let channels = ["manicode", "manicode-dev", "manicode-staging"]

    private func roots(in environment: SourceEnvironment) -> [String] {
        Self.channels.map { environment.home + "/.config/\($0)/projects" }
    }

    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        roots(in: environment).map { WatchedPath($0, isRecursive: true) }
    }

    mutating func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        readCredits(
            &files, roots: roots(in: environment), title: "Codebuff chats", in: environment,
            at: now, isWanted: { $0 == CodebuffChat.fileName }
        ) { file, budget throws(FileError) in
            guard let document = try budget.readDocument(file.path) else { return .init() }
            return CodebuffChat.content(of: document.data, in: file)
        }
    }
}
