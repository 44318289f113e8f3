package import Essentials

/// The hooks of a tool that call one command, in a settings file of the form that Claude Code introduced:
///
///     {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "…", "timeout": 60}]}]}}
///
/// Pure; an edit leaves all other bytes alone. Codex, Gemini CLI and Qwen Code use the same form, GitHub Copilot CLI
/// one without groups.
package struct HookSettings: Sendable {
    package struct Event: Sendable {
        package var name: String
        /// Whether it is one of a call of a tool, of which all are meant.
        package var isOfTools: Bool

        package init(_ name: String, isOfTools: Bool = false) {
            self.name = name
            self.isOfTools = isOfTools
        }
    }

    package var events: [Event]
    /// For a shell.
    package var command: String
    /// What the command contains that no other one does.
    package var mark: String
    /// In the unit of the tool.
    package var timeout: Int
    /// The names of a handler's members for the command and the timeout.
    package var names = (command: "command", timeout: "timeout")
    package var hasGroups = true

    package init(events: [Event], command: String, mark: String, timeout: Int) {
        self.events = events
        self.command = command
        self.mark = mark
        self.timeout = timeout
    }

    /// The text with the command at each event; unchanged if it is there.
    ///
    /// - Parameter text: nil for a new file.
    package func adding(to text: Data?) throws(JSONDocumentError) -> Data {
        guard let text else {
            let version = hasGroups ? "" : "\"version\": 1,\n  "
            let hooks = String(decoding: hooks(MemberLayout(lineBreak: "\n", space: "  ")), as: UTF8.self)
            return Data("{\n  \(version)\(hooks)\n}\n".utf8)
        }
        if try isComplete(text) { return text }
        var edited = try removing(from: text)
        let outline = try outline(edited)
        guard outline.member("hooks", of: outline.root) != nil else {
            return outline.adding(to: outline.root, hooks)
        }
        for event in events {
            let outline = try self.outline(edited)
            let hooks = try self.hooks(of: outline)
            if let listed = outline.member(event.name, of: hooks) {
                guard listed.value.items != nil else {
                    throw outline.error("hooks.\(event.name) is not a list", at: listed.name)
                }
                edited = outline.adding(to: listed.value) { _ in Array(entry(event).utf8) }
            } else {
                edited = outline.adding(to: hooks) { _ in Array(member(event).utf8) }
            }
        }
        return edited
    }

    /// The text without the command, and without what is empty then.
    package func removing(from text: Data) throws(JSONDocumentError) -> Data {
        var text = text
        while true {
            let outline = try outline(text)
            guard outline.member("hooks", of: outline.root) != nil else { return text }
            let hooks = try hooks(of: outline)
            guard let place = place(in: hooks, outline) else { return text }
            let event = hooks.members?[place.event].value
            if let handler = place.handler {
                text = outline.removing(handler.index, from: handler.list)
            } else if let event, event.parts.count > 1 {
                text = outline.removing(place.entry, from: event)
            } else if hooks.parts.count > 1 {
                text = outline.removing(place.event, from: hooks)
            } else {
                let index = outline.root.members?.lastIndex { outline.text($0.name) == "hooks" }
                text = outline.removing(index ?? 0, from: outline.root)
            }
        }
    }

    private func isComplete(_ text: Data) throws(JSONDocumentError) -> Bool {
        let outline = try outline(text)
        let found = outline.member("hooks", of: outline.root)?.value
        return events.allSatisfy { event in
            let items = found.flatMap { outline.member(event.name, of: $0) }?.value.items ?? []
            return items.contains { outline.bytes[$0.range].elementsEqual(entry(event).utf8) }
        }
    }

    private func outline(_ text: Data) throws(JSONDocumentError) -> JSONOutline {
        let outline = try JSONOutline(Array(text))
        guard outline.root.members != nil else {
            throw outline.error("not a JSON object", at: outline.root.range)
        }
        return outline
    }

    private func hooks(of outline: JSONOutline) throws(JSONDocumentError) -> JSONOutline.Node {
        let member = outline.member("hooks", of: outline.root)
        guard let member, member.value.members != nil else {
            throw outline.error("hooks is not an object", at: member?.name ?? outline.root.range)
        }
        return member.value
    }

    /// The last entry with the command; with the handler if others are beside it in the entry.
    private func place(
        in hooks: JSONOutline.Node, _ outline: JSONOutline
    ) -> (event: Int, entry: Int, handler: (index: Int, list: JSONOutline.Node)?)? {
        for (index, member) in (hooks.members ?? []).enumerated().reversed() {
            for (entry, node) in (member.value.items ?? []).enumerated().reversed() {
                let handlers = outline.member("hooks", of: node)?.value
                if isOwn(node, outline) { return (index, entry, nil) }
                guard let handlers, let own = (handlers.items ?? []).lastIndex(where: { isOwn($0, outline) })
                else { continue }
                return (index, entry, handlers.parts.count > 1 ? (own, handlers) : nil)
            }
        }
        return nil
    }

    private func isOwn(_ handler: JSONOutline.Node, _ outline: JSONOutline) -> Bool {
        outline.member(names.command, of: handler).flatMap { outline.text($0.value.range) }?.contains(mark) ?? false
    }

    // MARK: - Parts

    private func hooks(_ layout: MemberLayout) -> [UInt8] {
        let separator = layout.lineBreak.isEmpty ? " " : layout.lineBreak + layout.space + layout.space
        let members = events.map(member).joined(separator: "," + separator)
        let isOneLine = layout.lineBreak.isEmpty
        let (start, end) = isOneLine ? ("", "") : (separator, layout.lineBreak + layout.space)
        return Array("\"hooks\": {\(start)\(members)\(end)}".utf8)
    }

    private func member(_ event: Event) -> String { "\"\(event.name)\": [\(entry(event))]" }

    private func entry(_ event: Event) -> String {
        let written = String(decoding: WrittenString(escaping: command).written, as: UTF8.self)
        let handler =
            "{\"type\": \"command\", \"\(names.command)\": \"\(written)\", \"\(names.timeout)\": \(timeout)}"
        let matcher = event.isOfTools ? "\"matcher\": \"*\", " : ""
        return hasGroups ? "{\(matcher)\"hooks\": [\(handler)]}" : handler
    }
}
