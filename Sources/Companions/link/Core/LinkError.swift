import Essentials

/// Why a link was not opened. Contains nothing of the link.
enum LinkError: ReportableError, Equatable {
    case invalidScheme
    case missingMessageID
    case emptyMessageID
    case invalidURLConstruction(Flaw)
    case openFailed(Failure)

    /// What makes an id useless for the chosen form.
    enum Flaw: Equatable, Sendable {
        case tooLong
        case controlCharacter
        case malformedEncoding
        case notText
        /// It would become an option of the command.
        case option
        /// The command would be given an `airmail:` link again.
        case loop

        fileprivate var message: String {
            switch self {
            case .tooLong: "it is longer than \(AirmailLink.byteLimit / 1_024) KiB"
            case .controlCharacter: "its message id contains a control character"
            case .malformedEncoding: "a '%' in its message id is not followed by two hexadecimal digits"
            case .notText: "its message id is not UTF-8"
            case .option:
                "its message id begins with '-' or '+', which the command would take for an option; put -- "
                    + "directly before {id}"
            case .loop: "the command would be given an 'airmail:' link again"
            }
        }
    }

    enum Failure: Equatable, Sendable {
        case noHandler(scheme: String)
        /// What opens URLs of this scheme is this program.
        case loop(scheme: String)
        case noCommand
        /// Without a display, no application can be started, and `xdg-open` would give the URL to a browser.
        case noDisplay(scheme: String)
        /// What links are given to opens them again.
        case chain
        /// The command is this program.
        case commandLoop
        case notStarted(program: String, reason: String)
        case exited(program: String, status: Int32)

        var message: String {
            let name = ProgramName.text
            return switch self {
            case .noHandler(let scheme):
                "no application here opens \(scheme): links; is \(Self.application(scheme)) installed? "
                    + "\(name) doctor shows what can be opened"
            case .loop(let scheme):
                "\(scheme): links are opened by this program itself, in a loop; set another "
                    + "application: xdg-mime default NAME.desktop x-scheme-handler/\(scheme)"
            case .noDisplay(let scheme):
                "there is no display on which an application for \(scheme): links could be started; open it in a "
                    + "desktop session, or use a command: \(name) command -- PROGRAM {id}"
            case .chain:
                "too many links are opened at once, as by an application that opens each link again; set another "
                    + "application or command, or try again in ten seconds"
            case .noCommand:
                "links are to be opened by a command, and none is set on this machine; run "
                    + "\(name) command -- PROGRAM {id}, or \(name) set with another form"
            case .commandLoop: "the command is this program itself; set another one with \(name) command"
            case .notStarted(let program, let reason): "cannot start \(program): \(reason)"
            case .exited(let program, let status):
                "\(program) failed with status \(status); \(name) doctor shows what can be opened"
            }
        }

        private static func application(_ scheme: String) -> String {
            switch scheme {
            case "hook": "Hookmark"
            case "message": "Mail"
            default: "a mail client such as Thunderbird"
            }
        }
    }

    /// The name in logs and in JSON.
    var code: String {
        switch self {
        case .invalidScheme: "invalidScheme"
        case .missingMessageID: "missingMessageId"
        case .emptyMessageID: "emptyMessageId"
        case .invalidURLConstruction: "invalidURLConstruction"
        case .openFailed: "openFailed"
        }
    }

    var exitStatus: ExitStatus {
        switch self {
        case .openFailed(.noCommand), .openFailed(.commandLoop), .openFailed(.loop), .openFailed(.chain): .configuration
        case .openFailed: .unavailable
        default: .dataError
        }
    }

    /// What failed and what to do, without the link.
    var description: String {
        switch self {
        case .invalidScheme: "the link does not begin with 'airmail:'"
        case .missingMessageID: "the link has no parameter 'messageid'; copy it again from the message"
        case .emptyMessageID: "the parameter 'messageid' of the link is empty; copy the link again from the message"
        case .invalidURLConstruction(let flaw): "the link cannot be converted: " + flaw.message
        case .openFailed(let failure): failure.message
        }
    }
}
