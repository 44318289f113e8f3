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
        let environment = ProcessInfo.processInfo.environment
        guard ["DISPLAY", "WAYLAND_DISPLAY"].contains(where: { environment[$0]?.isEmpty == false }) else { return }
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
    static func log(_ failure: OpenFailure, _ form: LinkForm?) {
        guard !Console.isErrorTerminal else { return }
        do throws(FileError) {
            try ErrorLog().append(
                ErrorLog.Entry(time: Date(), error: failure.code, form: form, status: failure.exitedStatus))
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

    private let file: LocalFile

    private static let entryLimit = 100
    private static let byteLimit = 64 * 1_024

    init(_ directories: UserDirectories = UserDirectories()) {
        file = LocalFile(directories.state + "/link.log")
    }

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

/// An error of opening a link, for its user, the log and the exit status. Contains nothing of the link.
struct OpenFailure {
    /// The name in the log.
    let code: String
    let message: String
    let status: ExitStatus
    /// That of the program that failed.
    let exitedStatus: Int32?

    /// Nil for errors of the output.
    init?(_ error: any Error) {
        guard let error = error as? any ReportableError, !(error is OutputError) else { return nil }
        let link = error as? LinkError
        (code, message, status) = (link?.code ?? "settings", error.description, error.exitStatus)
        if case .openFailed(.exited(_, let status)) = link { exitedStatus = status } else { exitedStatus = nil }
    }
}
