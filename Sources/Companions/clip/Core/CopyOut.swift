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
    /// Whether `wl-copy` knows `--sensitive`.
    var wlCopyMarksSensitive = false

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
                "\(type.rawValue) cannot be copied to \(target.rawValue), which takes text; " + "use 'clip get'"
            case .missing(let what, let target): "cannot copy to \(target.rawValue): \(what)"
            case .nowhere:
                "no clipboard here: no terminal, and neither a Wayland nor an X11 display; " + "use 'clip get'"
            }
        }
    }

    /// Chooses how to copy: over SSH or without a display by tmux or the terminal, else by the display.
    ///
    /// - Parameters:
    ///   - requested: in place of the first that applies.
    ///   - sensitive: whether managers of the clipboard are asked not to keep it, where that is possible.
    static func choose(
        _ part: ClipContents.Part, in environment: CopyOutEnvironment,
        to requested: CopyTarget? = nil, sensitive: Bool = false
    ) throws(Failure) -> CopyOut {
        guard let target = requested ?? environment.firstTarget else { throw .nowhere }
        switch target {
        case .tmux: return try tmux(part, environment)
        case .osc52: return try osc52(part, environment)
        case .wayland: return try wayland(part, environment, sensitive)
        case .x11: return try x11(part, environment)
        case .stdout: return CopyOut(target: .stdout, method: .standardOutput, report: "written")
        }
    }

    private static func tmux(_ part: ClipContents.Part, _ environment: CopyOutEnvironment) throws(Failure) -> CopyOut {
        guard let version = environment.tmuxVersion else { throw .missing("not inside tmux", .tmux) }
        guard environment.tmuxPassesOn, environment.tools.contains(.tmux) else {
            throw .missing("needs tmux 3.2 or newer, this is \(version)", .tmux)
        }
        guard part.isText else { throw .notText(part.type, .tmux) }
        return CopyOut(
            target: .tmux, method: .program(arguments: ["tmux", "load-buffer", "-w", "-"]), report: "sent through tmux")
    }

    private static func osc52(_ part: ClipContents.Part, _ environment: CopyOutEnvironment) throws(Failure) -> CopyOut {
        guard environment.hasTerminal else { throw .missing("no terminal", .osc52) }
        guard part.isText else { throw .notText(part.type, .osc52) }
        guard part.data.count <= terminalByteLimit else { throw .tooLong(byteCount: part.data.count) }
        let sequence = Data("\u{1B}]52;c;".utf8) + part.data.base64EncodedData() + Data([0x07])
        return CopyOut(target: .osc52, method: .terminal(sequence: sequence), report: "sent to the terminal")
    }

    private static func wayland(
        _ part: ClipContents.Part, _ environment: CopyOutEnvironment, _ sensitive: Bool
    ) throws(Failure) -> CopyOut {
        guard environment.hasWaylandDisplay else { throw .missing("no Wayland display", .wayland) }
        guard environment.tools.contains(.wlCopy) else {
            throw .missing("wl-copy is not installed (wl-clipboard)", .wayland)
        }
        let mark = sensitive && environment.wlCopyMarksSensitive ? ["--sensitive"] : []
        return CopyOut(
            target: .wayland,
            method: .program(arguments: ["wl-copy", "--type", part.type.rawValue] + mark),
            report: "copied")
    }

    private static func x11(_ part: ClipContents.Part, _ environment: CopyOutEnvironment) throws(Failure) -> CopyOut {
        guard environment.hasX11Display else { throw .missing("no X11 display", .x11) }
        let arguments: [String]
        if environment.tools.contains(.xclip) {
            let target = part.type == .text ? "UTF8_STRING" : part.type.rawValue
            arguments = ["xclip", "-selection", "clipboard", "-t", target]
        } else if environment.tools.contains(.xsel) {
            guard part.isText else { throw .notText(part.type, .x11) }
            arguments = ["xsel", "--clipboard", "--input"]
        } else {
            throw .missing("neither xclip nor xsel is installed", .x11)
        }
        return CopyOut(target: .x11, method: .program(arguments: arguments), report: "copied")
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
