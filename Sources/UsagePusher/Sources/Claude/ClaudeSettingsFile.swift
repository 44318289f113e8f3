import Essentials
package import LocalFiles

/// The capture of the status line in Claude Code's `settings.json`.
extension ToolSettingsFile {
    /// The file in one of the tool's homes; nil for a home of another tool.
    package init?(home: ToolHome) {
        guard home.providerID == ClaudeSource().providerID else { return nil }
        self.init(home.path + "/settings.json", backup: ".before-usage-push")
    }

    /// What adds the capture by `program`, a name or a path; nil when there is nothing to add.
    package func captureAddition(program: String) throws(FileError) -> Change? {
        try addition { text throws(JSONDocumentError) in
            try ClaudeSettings(text).isCaptured
        } _: { text throws(JSONDocumentError) in
            try text.map { text throws(JSONDocumentError) in
                try ClaudeSettings(text).addingCapture(program: program)
            } ?? ClaudeSettings.new(program: program)
        }
    }

    /// What removes the capture; nil when there is none.
    package func captureRemoval() throws(FileError) -> Change? {
        try removal { text throws(JSONDocumentError) in
            try ClaudeSettings(text).removingCapture()
        }
    }
}
