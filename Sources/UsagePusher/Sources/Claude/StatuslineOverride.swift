import LocalFiles

/// A settings file of Claude Code whose status line replaces the user's, and with it the capture.
package struct StatuslineOverride: Sendable, Equatable {
    package var path: String
    /// Whether it is for all sessions on the machine, not only for those in one directory.
    package var isManaged: Bool

    private static let byteLimit = 1_048_576

    /// The file that decides for sessions in `directory`; nil when none replaces the user's status line, or the one
    /// that does captures the limits as well.
    ///
    /// - Parameter homes: their own settings are no override.
    init?(directory: String, managedPath: String, homes: [ToolHome]) {
        let own = homes.compactMap { Self.identity($0.path + "/settings.json") }
        let project = ["settings.local.json", "settings.json"].map {
            directory + "/.claude/" + $0
        }
        for path in [managedPath] + project {
            guard let identity = Self.identity(path), !own.contains(identity),
                // Nothing is known to be overridden by a file that cannot be read.
                let content = try? LocalFile(path).read(byteLimit: Self.byteLimit),
                JSONFields(content.data)?.fields("statusLine") != nil
            else { continue }
            // Settings that cannot be read override what is captured nevertheless.
            if (try? ClaudeSettings(content.data))?.isCaptured == true { return nil }
            self.init(path: path, isManaged: path == managedPath)
            return
        }
        return nil
    }

    package init(path: String, isManaged: Bool) {
        self.path = path
        self.isManaged = isManaged
    }

    private static func identity(_ path: String) -> FileStatus.Identity? {
        FileStatus.visible(at: path)?.identity
    }
}
