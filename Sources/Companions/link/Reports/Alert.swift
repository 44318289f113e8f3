import Commands
import Essentials
import LocalFiles
import TerminalText

/// Tells the user about a link: on the terminal, or on the desktop if a browser has started this program. Then what it
/// prints may be kept in a log, and has nothing of the link.
enum Alert {
    static let failure = "Cannot open link"
    static let warning = "Check the opened link"

    private static let shownCharacters = 300

    /// - Parameters:
    ///   - message: without the link.
    ///   - link: as it was received.
    ///   - title: what has happened.
    static func show(_ message: String, link: String, title: String = failure) {
        let text = message + "\nreceived: " + shown(link)
        Console.report(title.lowercased() + ": " + (Console.isErrorTerminal ? text : message))
        guard !Console.isErrorTerminal else { return }
        // The desktop keeps no transient notification.
        let notification = SystemTool("notify-send")?.run([
            "--app-name=" + ProgramName.text, "--urgency=normal", "--icon=dialog-error", "--hint=int:transient:1", "--",
            title, XMLText.escape(text),
        ])
        if notification?.isSuccess == true { return }
        guard OwnProgram.hasDisplay else { return }
        if let zenity = SystemTool("zenity") {
            _ = zenity.run(["--error", "--no-markup", "--title=" + title, "--text=" + text])
        } else if let dialog = SystemTool("kdialog") {
            _ = dialog.run(["--title", title, "--error", text])
        }
    }

    /// Without characters that a terminal or a desktop would obey, and of a bounded length.
    private static func shown(_ link: String) -> String {
        let text = VisibleText.escape(String(link.prefix(shownCharacters)))
            .replacing("<", with: "%3C").replacing(">", with: "%3E")
        return link.count > shownCharacters ? text + "…" : text
    }

    /// Adds an error to the log if no terminal shows it.
    static func log(_ error: any ReportableError, _ form: LinkForm?) {
        guard !Console.isErrorTerminal else { return }
        let link = error as? LinkError
        var entry = ErrorLog.Entry(time: Date(), error: link?.code ?? "settings", form: form)
        if case .openFailed(.exited(_, let status)) = link { entry.status = status }
        do throws(FileError) {
            try ErrorLog().append(entry)
        } catch {
            Console.report(error.description)
        }
    }
}

/// Errors that no terminal has shown. They have nothing of a link: neither ids nor addresses.
struct ErrorLog {
    struct Entry: Codable, Equatable {
        var time: Date
        var error: String
        var form: LinkForm?
        /// The exit status of the program that failed.
        var status: Int32?
    }

    private let file = LocalFile(UserDirectories().state + "/link.log")

    private static let entryLimit = 100
    private static let byteLimit = 64 * 1_024

    /// The last entries, oldest first. Lines that are no entries are left out.
    func entries() throws(FileError) -> [Entry] {
        guard let content = try file.read(byteLimit: Self.byteLimit) else { return [] }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return content.data.split(separator: UInt8(ascii: "\n"))
            .compactMap { try? decoder.decode(Entry.self, from: $0) }.suffix(Self.entryLimit)  // Left out, as promised.
    }

    func append(_ entry: Entry) throws(FileError) {
        let lock = try file.lock()
        defer { lock.unlock() }
        // A damaged file is begun again.
        let entries = ((try? entries()) ?? []).suffix(Self.entryLimit - 1) + [entry]
        let lines = entries.compactMap { try? JSONOutput.data($0) }  // Texts and numbers always can be.
        try file.replace(with: lines.reduce(Data(), +), durability: .cached)
    }
}
