import Commands
import Essentials

/// How copies are collected in a session.
enum CollectorBackend: Hashable, Sendable {
    case wayland, x11
    case none(Reason)

    /// Why only what is added with `clip add` is kept.
    enum Reason: Hashable, Sendable {
        case chosen
        case remote
        case noDisplay
        case noDataControl
        case noXclip

        fileprivate var sentence: String {
            switch self {
            case .chosen: "Collecting is off on this machine."
            case .remote: "Over SSH, the clipboard is that of another machine."
            case .noDisplay: "There is neither a Wayland nor an X11 display."
            case .noDataControl:
                "This Wayland desktop, as GNOME, lets no program see copies: it has no data-control protocol."
            case .noXclip: "xclip is not installed, which reads the clipboard of X11."
            }
        }
    }

    var name: String {
        switch self {
        case .wayland: "wayland"
        case .x11: "x11"
        case .none: "none"
        }
    }

    /// What the session offers. Asks a Wayland compositor for its protocols, which takes a few milliseconds.
    static func detect(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> CollectorBackend {
        func isSet(_ variable: String) -> Bool { environment[variable]?.isEmpty == false }
        if isSet("SSH_CONNECTION") || isSet("SSH_TTY") { return .none(.remote) }
        if isSet("WAYLAND_DISPLAY") {
            // Any other failure may be over when the collector connects again.
            let source = Result { () throws(SourceError) in
                try WaylandSource(environment: environment, Cancellation())
            }
            if case .failure(WaylandSource.noDataControl) = source { return .none(.noDataControl) }
            return .wayland
        }
        guard isSet("DISPLAY") else { return .none(.noDisplay) }
        return SearchPath(environment).path(of: "xclip") == nil ? .none(.noXclip) : .x11
    }

    /// What it cannot do here, as sentences.
    var limits: [String] {
        switch self {
        case .wayland: ["The application of a copy is not known, so that no application can be ignored."]
        case .x11:
            ["A program that names neither a window in front nor its own has no application, and cannot be ignored."]
        case .none(let reason): [reason.sentence, "Only what '\(ProgramName.text) add' is given is kept."]
        }
    }
}

/// The variables that lead to the display. A service of systemd starts before the session of its user, and gets them
/// neither then nor later: the service manager knows those that a desktop has imported.
enum SessionEnvironment {
    private static let names = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"]
    private static let byteLimit = 1 << 20

    /// Whether this program is a service of systemd.
    static func isService(_ environment: [String: String]) -> Bool { environment["INVOCATION_ID"] != nil }

    /// The environment, in a service with what the service manager knows at present.
    static func present(_ environment: [String: String]) -> [String: String] {
        guard isService(environment),
            let systemctl = SearchPath(environment).path(of: "systemctl")
        else { return environment }
        let run = BoundedProcess(
            clipboard: systemctl, ["--user", "show-environment"], environment: environment, outputByteCount: byteLimit)
        guard run.isSuccess else { return environment }
        // Those of a session that has ended lead nowhere.
        return environment.filter { !$0.key.hasSuffix("DISPLAY") }.merging(
            variables(String(decoding: run.output, as: UTF8.self))
        ) { $1 }
    }

    /// Those in the output of `systemctl show-environment` that need no quotes, as paths and numbers of displays do
    /// not.
    static func variables(_ text: String) -> [String: String] {
        var variables: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, names.contains(String(parts[0])), !parts[1].hasPrefix("$'") else { continue }
            variables[String(parts[0])] = String(parts[1])
        }
        return variables
    }
}
