package import Essentials

/// The text of Claude Code's `settings.json`, and the edits that add and remove the capture of the
/// status line. Pure; an edit leaves all other bytes alone.
package struct ClaudeSettings: Sendable {
    private enum Statusline {
        case none
        /// A command that captures nothing.
        case own(JSONOutline.Node)
        case captured(CaptureCommand, JSONOutline.Node)
        /// A capture that was set up by hand, in another form.
        case custom(JSONOutline.Node)
    }

    private let outline: JSONOutline
    private let members: [JSONOutline.Member]
    private let statusline: Statusline

    /// - Throws: when the text is not a JSON object, or its status line has no command.
    package init(_ text: Data) throws(JSONDocumentError) {
        outline = try JSONOutline(Array(text))
        guard let members = outline.root.members else {
            throw outline.error("not a JSON object", at: outline.root.range)
        }
        self.members = members
        guard let member = outline.member("statusLine", of: outline.root) else {
            statusline = .none
            return
        }
        guard let command = outline.member("command", of: member.value)?.value,
            let text = WrittenString(outline.bytes[command.range])
        else { throw outline.error("statusLine is not an object with a command", at: member.name) }
        statusline =
            switch CaptureCommand.form(of: text) {
            case .none: .own(command)
            case .custom: .custom(command)
            case .capture(let capture): .captured(capture, command)
            }
    }

    /// The text of a new file with the capture.
    package static func new(program: String) -> Data {
        let layout = MemberLayout(lineBreak: "\n", space: "  ")
        let member = layout.statusline(CaptureCommand(program: program))
        return Data("{\n  ".utf8) + Data(member) + Data("\n}\n".utf8)
    }

    /// Whether some command of the status line captures the limits.
    package var isCaptured: Bool {
        switch statusline {
        case .none, .own: false
        case .captured, .custom: true
        }
    }

    /// The text with the capture by `program`, a name or a path, in front of the user's own command if there is one.
    ///
    /// Unchanged when this program captures already, or a command written by hand does.
    package func addingCapture(program: String) -> Data {
        switch statusline {
        case .none:
            return outline.adding(to: outline.root) { $0.statusline(CaptureCommand(program: program)) }
        case .own(let command):
            let own = WrittenString(outline.bytes[command.range])
            return replacing(command, with: CaptureCommand(program: program, own: own).written)
        case .captured(var capture, let command):
            let prefix = capture.writtenPrefix.count
            capture.program = CaptureCommand(program: program).program
            let start = command.range.lowerBound + 1
            return outline.replacing(start..<start + prefix, with: capture.writtenPrefix)
        case .custom: return Data(outline.bytes)
        }
    }

    /// The text with the user's own command, or without a status line if there was none.
    ///
    /// Unchanged when nothing is captured.
    ///
    /// - Throws: when the capture was written by hand in a form that cannot be undone.
    package func removingCapture() throws(JSONDocumentError) -> Data {
        switch statusline {
        case .none, .own: return Data(outline.bytes)
        case .captured(let capture, let command):
            if let own = capture.own { return replacing(command, with: own.written) }
            let index = members.lastIndex { outline.text($0.name) == "statusLine" }
            return outline.removing(index ?? 0, from: outline.root)
        case .custom(let command):
            throw outline.error(
                "this command runs usage-push claude-statusline in a form of its own",
                at: command.range)
        }
    }

    /// Replaces the content of a string.
    private func replacing(_ string: JSONOutline.Node, with bytes: [UInt8]) -> Data {
        outline.replacing(string.range.lowerBound + 1..<string.range.upperBound - 1, with: bytes)
    }
}
