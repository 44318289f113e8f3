import Essentials

/// Where a user's files of this product are, by the XDG base directory rules: a variable whose
/// value is not an absolute path counts as unset. Paths have no trailing slash; nothing is created.
package struct UserDirectories: Sendable, Hashable {
    private let environment: [String: String]

    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment
    }

    /// `HOME`, else the home directory of the process's user.
    package var home: String { path("HOME") ?? FileManager.default.homeDirectoryForCurrentUser.path }

    /// A path with `home` for "~" at its beginning.
    package func expanded(_ path: String) -> String {
        path == "~" || path.hasPrefix("~/") ? home + path.dropFirst() : path
    }

    /// The inverse, for people.
    package static func abbreviated(_ path: String, home: String) -> String {
        path.hasPrefix(home + "/") ? "~" + path.dropFirst(home.count) : path
    }

    /// `UBIQUITY_DATA_DIR`, else `ubiquity` in `XDG_DATA_HOME`, else `~/.local/share/ubiquity`.
    package var data: String {
        path("UBIQUITY_DATA_DIR") ?? (path("XDG_DATA_HOME") ?? home + "/.local/share") + "/ubiquity"
    }

    /// `UBIQUITY_CONFIG_DIR`, else `ubiquity` in `XDG_CONFIG_HOME`, else `~/.config/ubiquity`.
    package var config: String {
        path("UBIQUITY_CONFIG_DIR") ?? (path("XDG_CONFIG_HOME") ?? home + "/.config") + "/ubiquity"
    }

    /// `UBIQUITY_STATE_DIR`, else `ubiquity` in `XDG_STATE_HOME`, else `~/.local/state/ubiquity`.
    package var state: String {
        path("UBIQUITY_STATE_DIR") ?? (path("XDG_STATE_HOME") ?? home + "/.local/state") + "/ubiquity"
    }

    private func path(_ variable: String) -> String? {
        guard let path = environment[variable], path.hasPrefix("/") else { return nil }
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}
