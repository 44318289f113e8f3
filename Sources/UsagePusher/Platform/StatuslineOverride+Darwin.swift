#if canImport(Darwin)
    extension StatuslineOverride {
        /// Where an administrator puts Claude Code's settings [Claude Code docs, settings].
        package static let managedPath = "/Library/Application Support/ClaudeCode/managed-settings.json"
    }
#endif
