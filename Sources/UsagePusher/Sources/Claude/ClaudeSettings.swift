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
        case .none: return adding(CaptureCommand(program: program))
        case .own(let command):
            let own = WrittenString(outline.bytes[command.range])
            return replacing(command, with: CaptureCommand(program: program, own: own).written)
        case .captured(var capture, let command):
            let prefix = capture.writtenPrefix.count
            capture.program = CaptureCommand(program: program).program
            let start = command.range.lowerBound + 1
            return replacing(start..<start + prefix, with: capture.writtenPrefix)
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
            guard let own = capture.own else { return removingMember() }
            return replacing(command, with: own.written)
        case .custom(let command):
            throw outline.error(
                "this command runs usage-push claude-statusline in a form of its own",
                at: command.range)
        }
    }

    private func replacing(_ range: Range<Int>, with bytes: [UInt8]) -> Data {
        Data(outline.bytes[..<range.lowerBound]) + Data(bytes) + Data(outline.bytes[range.upperBound...])
    }

    /// Replaces the content of a string.
    private func replacing(_ string: JSONOutline.Node, with bytes: [UInt8]) -> Data {
        replacing(string.range.lowerBound + 1..<string.range.upperBound - 1, with: bytes)
    }

    /// Adds the status line after the last member, in the layout of that member.
    private func adding(_ command: CaptureCommand) -> Data {
        guard let last = members.last else { return addingFirst(command) }
        let gap = outline.bytes[..<last.name.lowerBound].reversed().prefix { Self.isSpace($0) }.reversed()
        let end = last.value.range.upperBound
        let member = MemberLayout(gap: gap).statusline(command)
        return replacing(end..<end, with: [UInt8(ascii: ",")] + gap + member)
    }

    private func addingFirst(_ command: CaptureCommand) -> Data {
        let start = outline.root.range.lowerBound + 1
        guard outline.root.range.count == 2 else {
            // Spaces between the braces stay, so that it can be undone.
            let member = MemberLayout(lineBreak: "", space: " ").statusline(command)
            return replacing(start..<start, with: member)
        }
        let isDOS = outline.bytes.contains(UInt8(ascii: "\r"))
        let layout = MemberLayout(lineBreak: isDOS ? "\r\n" : "\n", space: "  ")
        let gap = Array((layout.lineBreak + layout.space).utf8)
        return replacing(start..<start, with: gap + layout.statusline(command) + Array(layout.lineBreak.utf8))
    }

    /// Undoes `adding`, also when members were added after it since.
    private func removingMember() -> Data {
        let index = members.lastIndex { outline.text($0.name) == "statusLine" }
        guard let index else { return Data(outline.bytes) }
        let member = members[index].name.lowerBound..<members[index].value.range.upperBound
        if index > 0 {
            let start = members[index - 1].value.range.upperBound
            return replacing(start..<member.upperBound, with: [])
        }
        if members.count > 1 {
            return replacing(member.lowerBound..<members[1].name.lowerBound, with: [])
        }
        let root = outline.root.range
        let before = outline.bytes[root.lowerBound + 1..<member.lowerBound]
        let after = outline.bytes[member.upperBound..<root.upperBound - 1]
        let isAddedToNothing = ["\n", "\r\n"].contains { lineBreak in
            before.elementsEqual((lineBreak + "  ").utf8) && after.elementsEqual(lineBreak.utf8)
        }
        return replacing(root.lowerBound + 1..<root.upperBound - 1, with: isAddedToNothing ? [] : Array(before + after))
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
