import Commands
import Essentials
package import LocalFiles
import TerminalText

/// Shows changes of settings files, asks before each, and makes them.
package struct SettingsDialogue {
    /// Shown as "~".
    private let home: String
    private let answersYes: Bool
    /// Whether nothing is printed, and nobody asked.
    private let isSilent: Bool

    package init(home: String, answersYes: Bool, isSilent: Bool) {
        self.home = home
        self.answersYes = answersYes
        self.isSilent = isSilent
    }

    package var canAsk: Bool { !isSilent && Console.isInputTerminal && Console.isOutputTerminal }

    /// Escaped.
    private func shown(_ path: String) -> String {
        VisibleText.escape(UserDirectories.abbreviated(path, home: home))
    }

    package func isAccepted(_ question: String) -> Bool { answersYes || canAsk && Console.confirm(question) }

    package func apply(
        _ changes: [ToolSettingsFile.Change]
    ) throws -> (applied: [ToolSettingsFile.Change], failures: [FileError]) {
        var applied: [ToolSettingsFile.Change] = []
        var failures: [FileError] = []
        for change in changes {
            try say(lines(of: change))
            guard isAccepted(question(change)) else { continue }
            do throws(FileError) {
                try change.file.apply(change)
                applied.append(change)
            } catch {
                failures.append(error)
                continue
            }
            try say([result(of: change)])
        }
        return (applied, failures)
    }

    /// Throws if there are any.
    package static func report(_ failures: [FileError]) throws {
        guard let last = failures.last else { return }
        for other in failures.dropLast() { Console.report("\(other); nothing was changed") }
        throw CommandFailure(last.isInvalid ? .dataError : .ioError, "\(last); nothing was changed")
    }

    private func say(_ lines: [String]) throws {
        if !isSilent { for line in lines { try Console.print(line) } }
    }

    /// A small diff.
    private func lines(of change: ToolSettingsFile.Change) -> [String] {
        guard let difference = change.difference else { return [] }
        let path = shown(change.file.path)
        let title =
            change.original == nil
            ? "\(path), a new file:"
            : change.edited == nil ? "\(path), removed:" : "\(path), line \(difference.line):"
        return ["", title] + difference.removed.map { "  - " + VisibleText.escape($0) }
            + difference.added.map { "  + " + VisibleText.escape($0) } + [""]
    }

    private func question(_ change: ToolSettingsFile.Change) -> String {
        let verb = change.original == nil ? "Create" : change.edited == nil ? "Remove" : "Change"
        return "\(verb) \(shown(change.file.path))?"
    }

    private func result(of change: ToolSettingsFile.Change) -> String {
        let path = shown(change.file.path)
        if change.original == nil { return "created \(path)" }
        if change.edited == nil { return "removed \(path)" }
        return change.isBackedUp
            ? "changed \(path); the former file is \(shown(change.file.backupPath))" : "changed \(path)"
    }
}

/// A change of a settings file as JSON. Fields are added, never renamed or removed.
package struct SettingsChangeReport: Encodable {
    /// Nil where the path alone tells.
    private var tool: String?
    private var path: String
    private var isApplied: Bool
    /// The first line that changes, from 1.
    private var line: Int
    private var removed: [String]
    private var added: [String]

    /// Nil for what changes nothing.
    package init?(_ change: ToolSettingsFile.Change, tool: String? = nil, isApplied: Bool) {
        guard let difference = change.difference else { return nil }
        self.tool = tool
        path = change.file.path
        self.isApplied = isApplied
        line = difference.line
        removed = difference.removed
        added = difference.added
    }
}
