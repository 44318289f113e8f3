import Essentials
package import LocalFiles

/// The file in which a tool on this machine lists its hooks.
package struct HookFile: Sendable, Hashable {
    /// The provider's id.
    package let tool: String
    package let settings: ToolSettingsFile

    private init(_ tool: String, _ path: String) {
        self.tool = tool
        settings = ToolSettingsFile(path, backup: ".before-usage-gate")
    }

    /// Those of the tools that are on this machine, in all homes that are read.
    ///
    /// - Parameter includesUnread: also of homes that are not read, from which something is to be removed.
    package static func all(in environment: SourceEnvironment, includesUnread: Bool) -> [HookFile] {
        let homes = ToolHomes(environment)
        let withHomes = (homes.known + (includesUnread ? homes.unread : [])).compactMap { home -> HookFile? in
            switch home.providerID {
            case "claude": HookFile("claude", home.path + "/settings.json")
            case "codex": HookFile("codex", home.path + "/hooks.json")
            default: nil
            }
        }
        let others = [
            ("gemini", GeminiSource.directory(in: environment), "/settings.json"),
            ("qwen", QwenSource.home(in: environment), "/settings.json"),
            ("copilot", CopilotTokens.home(in: environment), "/hooks/usage-gate.json"),
        ].filter { FileStatus.visible(at: $0.1)?.kind == .directory }
        return withHomes + others.map { HookFile($0.0, $0.1 + $0.2) }
    }

    /// Whether its tool calls no hooks at all; false for a file that cannot be read.
    package var turnsHooksOff: Bool {
        let data = try? LocalFile(settings.path).read(byteLimit: Self.byteLimit)?.data  // As described.
        return data.flatMap { JSONFields($0) }?.flag("disableAllHooks") ?? false
    }

    private static let byteLimit = 1_048_576

    /// What adds the hooks; nil when there is nothing to add.
    package func addition(_ hooks: HookSettings) throws(FileError) -> ToolSettingsFile.Change? {
        try settings.addition { text throws(JSONDocumentError) in
            try hooks.removing(from: text) != text
        } _: { text throws(JSONDocumentError) in
            try hooks.adding(to: text)
        }
    }

    /// What removes them; nil when there are none.
    package func removal(_ hooks: HookSettings) throws(FileError) -> ToolSettingsFile.Change? {
        try settings.removal { text throws(JSONDocumentError) in
            try text == hooks.adding(to: nil) ? Data("{}\n".utf8) : hooks.removing(from: text)
        } undoing: { text throws(JSONDocumentError) in
            try hooks.adding(to: text)
        }
    }
}
