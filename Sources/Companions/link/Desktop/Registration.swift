import Commands
import Essentials
import LocalFiles

/// This program as the handler of `airmail:` links of this user.
struct Registration {
    let files = DesktopFiles()

    private static let type = DesktopEntry.type(ofScheme: AirmailLink.scheme)

    var entry: LocalFile { LocalFile(files.ownDirectory + "/" + DesktopEntry.identifier) }

    /// What `xdg-mime` says opens a scheme; nil if nothing does, or without `xdg-mime`.
    static func handler(ofScheme scheme: String) -> String? {
        let outcome = SystemTool("xdg-mime")?.run(["query", "default", DesktopEntry.type(ofScheme: scheme)])
        guard let outcome, outcome.isSuccess else { return nil }
        // Other lines are complaints of the tools that it asks.
        return outcome.lines.last { $0.hasSuffix(".desktop") }?.trimmed()
    }

    /// Writes the entry and makes it the default one. `remove` restores the former one.
    func install(_ text: String) throws {
        let mime = try Self.tool()
        let former = Self.handler(ofScheme: AirmailLink.scheme)
        if let former, former != DesktopEntry.identifier {
            try DeviceSettings.update { $0.formerHandler = former }
        }
        try CommandFailure.ending(.cannotCreate) { () throws(FileError) in
            try entry.directory.create()
            try entry.replace(with: Data(text.utf8), permissions: 0o644)
        }
        try Self.makeDefault(DesktopEntry.identifier, mime)
        updateDatabase()
        let handler = Self.handler(ofScheme: AirmailLink.scheme)
        guard handler == DesktopEntry.identifier else {
            throw CommandFailure(
                .ioError,
                "airmail: links are still opened by \(handler ?? "no application"); xdg-mime finds no "
                    + "program at a path with spaces or special characters: move it, and install again"
            )
        }
    }

    /// Removes the entry and restores the former handler, unless another one has been chosen since.
    func remove() throws {
        let isDefault = Self.handler(ofScheme: AirmailLink.scheme) == DesktopEntry.identifier
        let former = try DeviceSettings.read().formerHandler
        if isDefault, let former { try Self.makeDefault(former, Self.tool()) }
        for path in files.ownAssociations {
            let file = try LocalFile(path).resolvingLinks()
            guard let content = try file.read(byteLimit: 1_024 * 1_024) else { continue }
            let text = String(decoding: content.data, as: UTF8.self)
            let rest = KeyFile(text).removing(DesktopEntry.identifier, from: Self.type)
            guard rest != text else { continue }
            try file.replace(with: Data(rest.utf8), permissions: content.status.permissions)
        }
        try entry.remove()
        try DeviceSettings.update { $0.formerHandler = nil }
        updateDatabase()
    }

    private static func tool() throws(CommandFailure) -> SystemTool {
        guard let tool = SystemTool("xdg-mime") else {
            throw CommandFailure(.unavailable, "xdg-mime is not on this machine; install xdg-utils and try again")
        }
        return tool
    }

    private static func makeDefault(_ id: String, _ mime: SystemTool) throws(CommandFailure) {
        let outcome = mime.run(["default", id, type])
        guard outcome.isSuccess else {
            throw CommandFailure(
                .ioError,
                "xdg-mime cannot make \(id) the default: " + (outcome.lines.first ?? "status \(outcome.status)"))
        }
    }

    private func updateDatabase() {
        _ = SystemTool("update-desktop-database")?.run(["-q", files.ownDirectory])
    }
}
