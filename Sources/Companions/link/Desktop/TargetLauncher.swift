import Commands
import Essentials

/// Starts what opens a target, and waits for its end.
struct TargetLauncher {
    private static let opener = "xdg-open"

    let files = DesktopFiles()

    /// Everything that can be refused before a program is started.
    ///
    /// Without an application for the scheme, `xdg-open` would give the URL to a web browser.
    func check(_ target: LinkTarget) throws(LinkError) {
        switch target {
        case .url(let url):
            let scheme = String(url.prefix { $0 != ":" })
            guard let application = files.application(forScheme: scheme) else {
                throw .openFailed(.noHandler(scheme: scheme))
            }
            guard !OwnProgram.opens(application) else { throw .openFailed(.loop(scheme: scheme)) }
            let environment = ProcessInfo.processInfo.environment
            guard
                ["DISPLAY", "WAYLAND_DISPLAY"].contains(where: { environment[$0]?.isEmpty == false }
                )
            else { throw .openFailed(.noDisplay(scheme: scheme)) }
        case .command(let arguments): guard !OwnProgram.isSame(arguments[0]) else { throw .openFailed(.commandLoop) }
        }
    }

    /// Returns when the program has ended with success. Some desktops let it run as long as the application does.
    ///
    /// What `xdg-open` and the applications print contains the URL, and may be kept in a log: it is dropped. A command
    /// has the standard streams of this program.
    ///
    /// - Parameter started: called as soon as the program runs.
    func open(_ target: LinkTarget, started: () -> Void) throws(LinkError) {
        let (program, arguments, isSilent) =
            switch target {
            case .url(let url): (Self.opener, [url], true)
            case .command(let words): (words[0], Array(words.dropFirst()), false)
            }
        let depth = try OpeningLimit().next()
        var variables = [OpeningLimit.variable: "\(depth)"]
        // Where the application fails, some versions of `xdg-open` go on with a web browser.
        if isSilent { variables["BROWSER"] = "false" }
        let null = isSilent ? Essentials.open("/dev/null", O_RDWR | O_CLOEXEC) : -1
        defer { if null >= 0 { close(null) } }
        let stream = null >= 0 ? null : nil
        SignalForwarding.prepare()
        guard
            let child = ChildProcess(
                program, arguments: arguments, standardInput: stream, output: stream, variables: variables)
        else {
            let reason =
                errno == ENOENT && isSilent
                ? "it is not on this machine; install xdg-utils"
                : String(cString: strerror(errno)).lowercased()
            throw .openFailed(.notStarted(program: program, reason: reason))
        }
        SignalForwarding.begin(to: child)
        started()
        let status = child.wait()
        SignalForwarding.end()
        guard status == 0 else { throw .openFailed(.exited(program: program, status: status)) }
    }
}

/// Runs `sync` in the background, so that a choice made on another machine holds for the next link.
enum BackgroundRefresh {
    static func start() {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { return }
        defer { close(null) }
        _ = ChildProcess(OwnProgram.path, arguments: ["sync"], standardInput: null, output: null, leadsGroup: true)
    }
}
