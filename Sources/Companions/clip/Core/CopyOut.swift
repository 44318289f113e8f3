import Essentials

/// Where contents are copied to.
enum CopyTarget: String, CaseIterable, Sendable {
    case tmux, osc52
    case wayland = "wl"
    case x11
    case stdout
}

/// What is known of the session in which something is copied out.
struct CopyOutEnvironment: Hashable, Sendable {
    /// Over SSH, where a display would be that of another machine.
    var isRemote = false
    var hasTerminal = true
    /// Inside tmux: its version, as `tmux -V` prints it.
    var tmuxVersion: String?
    var hasWaylandDisplay = false
    var hasX11Display = false
    /// Programs that were found.
    var tools = Set(Tool.allCases)

    enum Tool: String, CaseIterable, Sendable {
        case tmux
        case wlCopy = "wl-copy"
        case xclip, xsel
    }

    /// Since 3.2, `load-buffer -w` passes the buffer on to the terminal.
    var tmuxPassesOn: Bool {
        guard let tmuxVersion else { return false }
        let numbers = tmuxVersion.drop { !$0.isNumber }.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return !numbers.lexicographicallyPrecedes([3, 2])
    }

    /// Over SSH or without a display tmux or the terminal, else the display.
    fileprivate var firstTarget: CopyTarget? {
        let hasDisplay = hasWaylandDisplay || hasX11Display
        if isRemote || !hasDisplay {
            if tmuxPassesOn, tools.contains(.tmux) { return .tmux }
            if hasTerminal { return .osc52 }
        }
        if hasWaylandDisplay { return .wayland }
        return hasX11Display ? .x11 : nil
    }
}

/// How one representation of an item is copied out.
struct CopyOut: Hashable, Sendable {
    enum Method: Hashable, Sendable {
        /// A program that reads the bytes from its standard input.
        case program(arguments: [String])
        /// Bytes written to the terminal.
        case terminal(sequence: Data)
        case standardOutput
    }

    let target: CopyTarget
    let method: Method
    /// What is said afterwards. A terminal gives no answer, so that nothing is said to have been copied there.
    let report: String

    /// The longest text for OSC 52: in base64 a sequence of 100,000 bytes, which terminals usually accept.
    static let terminalByteLimit = 74_994

    enum Failure: ReportableError, Hashable {
        case tooLong(byteCount: Int)
        case notText(ContentType, CopyTarget)
        case missing(String, CopyTarget)
        case nowhere

        var exitStatus: ExitStatus { .unavailable }

        var description: String {
            switch self {
            case .tooLong(let count):
                "\(count) bytes are more than the \(CopyOut.terminalByteLimit) that a terminal "
                    + "accepts; use 'clip get' and redirect it"
            case .notText(let type, let target):
                "\(type.rawValue) cannot be copied to \(target.rawValue), which takes text; use 'clip get'"
            case .missing(let what, let target): "cannot copy to \(target.rawValue): \(what)"
            case .nowhere:
                "no clipboard here: no terminal, and neither a Wayland nor an X11 display; use 'clip get'"
            }
        }
    }

    /// Chooses how to copy: over SSH or without a display by tmux or the terminal, else by the display.
    ///
    /// - Parameter requested: in place of the first that applies.
    static func choose(
        _ part: ClipContents.Part, in environment: CopyOutEnvironment,
        to requested: CopyTarget? = nil
    ) throws(Failure) -> CopyOut {
        guard let target = requested ?? environment.firstTarget else { throw .nowhere }
        func copyOut(_ method: Method, _ report: String) -> CopyOut {
            CopyOut(target: target, method: method, report: report)
        }
        switch target {
        case .tmux:
            guard let version = environment.tmuxVersion else { throw .missing("not inside tmux", target) }
            guard environment.tmuxPassesOn, environment.tools.contains(.tmux) else {
                throw .missing("needs tmux 3.2 or newer, this is \(version)", target)
            }
            guard part.isText else { throw .notText(part.type, target) }
            return copyOut(.program(arguments: ["tmux", "load-buffer", "-w", "-"]), "sent through tmux")
        case .osc52:
            guard environment.hasTerminal else { throw .missing("no terminal", target) }
            guard part.isText else { throw .notText(part.type, target) }
            guard part.data.count <= terminalByteLimit else { throw .tooLong(byteCount: part.data.count) }
            let sequence = Data("\u{1B}]52;c;".utf8) + part.data.base64EncodedData() + Data([0x07])
            return copyOut(.terminal(sequence: sequence), "sent to the terminal")
        case .wayland:
            guard environment.hasWaylandDisplay else { throw .missing("no Wayland display", target) }
            guard environment.tools.contains(.wlCopy) else {
                throw .missing("wl-copy is not installed (wl-clipboard)", target)
            }
            return copyOut(.program(arguments: ["wl-copy", "--type", part.type.rawValue]), "copied")
        case .x11:
            guard environment.hasX11Display else { throw .missing("no X11 display", target) }
            if environment.tools.contains(.xclip) {
                let type = part.type == .text ? "UTF8_STRING" : part.type.rawValue
                return copyOut(.program(arguments: ["xclip", "-selection", "clipboard", "-t", type]), "copied")
            }
            guard environment.tools.contains(.xsel) else {
                throw .missing("neither xclip nor xsel is installed", target)
            }
            guard part.isText else { throw .notText(part.type, target) }
            return copyOut(.program(arguments: ["xsel", "--clipboard", "--input"]), "copied")
        case .stdout: return copyOut(.standardOutput, "written")
        }
    }
}

extension ClipContents {
    /// What of an item is copied, since the tools offer one type at a time: files as a file manager offers them, else
    /// plain text, else an image, else HTML, else RTF.
    ///
    /// - Parameters:
    ///   - type: to copy this one; nil if the item has none of it.
    ///   - plain: without formatting: text before files.
    func representation(_ type: ContentType? = nil, plain: Bool = false) -> Part? {
        if let type { return parts.first { $0.type == type } }
        let first: [ContentType.Kind] = self[.files] != nil && !plain ? [.files, .text] : [.text, .files]
        return (first + [.image, .html, .rtf]).lazy.compactMap { kind in self.parts.first { $0.type.kind == kind } }
            .first
    }

    /// Text and files alone; if there is no text, everything.
    var withoutFormatting: ClipContents {
        guard self[.text] != nil else { return self }
        return ClipContents(parts.filter(\.isText))
    }
}
