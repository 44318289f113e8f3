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
