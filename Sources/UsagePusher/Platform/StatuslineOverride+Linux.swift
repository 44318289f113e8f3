#if os(Linux) || os(Android)
    extension StatuslineOverride {
        /// Where an administrator puts Claude Code's settings [Claude Code docs, settings].
        package static let managedPath = "/etc/claude-code/managed-settings.json"
    }
#endif
