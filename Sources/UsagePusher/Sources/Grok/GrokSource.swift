import Essentials
import LocalFiles

/// Grok Build: the tokens of its sessions, and the address of its login. It keeps no limits.
struct GrokSource: TokenRecording {
    let providerID = "grok"
    let providerName = "Grok"
    let toolName = "Grok Build"
    let variables = ["GROK_HOME"]
    let tokenLogs: [any TokenLog] = [GrokTokens()]

    static func directory(in environment: SourceEnvironment) -> String {
        environment.absolutePath(variable: "GROK_HOME") ?? environment.home + "/.grok"
    }

    func watchedPaths(in environment: SourceEnvironment) -> [WatchedPath] {
        watchedLogs(in: environment) + [WatchedPath(Self.directory(in: environment) + "/auth.json")]
    }

    func read(in environment: SourceEnvironment, at now: Date) -> SourceReading {
        presence(in: environment, at: now) { () throws(FileError) in
            guard let file = try SideFile(Self.directory(in: environment) + "/auth.json").read(),
                let address = file.data.withUnsafeBytes(Self.address)
            else { return nil }
            return TokenAccount(email: address, seenAt: min(file.status.modificationDate, now))
        }
    }

    /// The address in the first login that has one, that of a subscription before an older session's; everything else
    /// in the document is passed over. [steipete/CodexBar GrokAuth.swift]
    private static func address(in document: UnsafeRawBufferPointer) -> String? {
        var cursor = JSONCursor(document)
        var other: String?
        guard cursor.enterObject() else { return nil }
        while let scope = cursor.nextKey() {
            let isSubscription = scope.bytes.starts(with: "https://auth.x.ai::".utf8)
            guard cursor.enterObject() else { continue }
            while let key = cursor.nextKey() {
                guard key == "email" else {
                    cursor.skip()
                    continue
                }
                guard let address = cursor.text()?.displayText else { continue }
                if isSubscription { return address }
                other = other ?? address
            }
        }
        return other
    }
}
