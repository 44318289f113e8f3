import Commands
import Essentials
import LocalFiles

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
            guard OwnProgram.hasDisplay else { throw .openFailed(.noDisplay(scheme: scheme)) }
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
        let depth = try OpeningLimit.next()
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

/// This program as others start it.
enum OwnProgram {
    static var path: String { ProgramLocation.current(name: ProgramName.text).path }

    /// Whether applications can be started, or show anything.
    static var hasDisplay: Bool {
        let environment = ProcessInfo.processInfo.environment
        return ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
    }

    /// Runs `sync` in the background, so that a choice made on another machine holds for the next link.
    static func startRefresh() {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { return }
        defer { close(null) }
        _ = ChildProcess(path, arguments: ["sync"], standardInput: null, output: null, leadsGroup: true)
    }

    /// Whether a path, or a name in the search path, leads to a program.
    static func isExecutable(_ program: String) -> Bool {
        program.contains("/") ? access(program, X_OK) == 0 : SearchPath().path(of: program) != nil
    }

    /// Whether a path, or a name in the search path, leads to this program.
    static func isSame(_ program: String) -> Bool {
        let found = program.contains("/") ? program : SearchPath().path(of: program)
        guard let found, let status = try? FileStatus(path: found),  // What cannot be looked at is not this program.
            let own = try? FileStatus(path: path)
        else { return false }
        return status.identity == own.identity
    }

    static func opens(_ application: DesktopFiles.Application) -> Bool {
        application.id == DesktopEntry.identifier || application.program.map(isSame) ?? false
    }
}

/// Ends the chains of an application that opens a link again for each link that it is given.
///
/// How many openings are inside of each other is counted in a variable of the environment. It allows a few: an
/// application that a link has started keeps the variable as long as it runs. For applications that clear the
/// environment, or that a desktop starts for others, all openings of the user in a short time are counted too; of them
/// nothing is kept but the times.
enum OpeningLimit {
    static let variable = "UBIQUITY_LINK_DEPTH"
    private static let depthLimit = 4
    private static let countLimit = 16
    private static let window: TimeInterval = 10
    private static let byteLimit = 4_096

    /// Counts one more opening.
    ///
    /// - Returns: the value of the variable for what is started.
    static func next() throws(LinkError) -> Int {
        let depth = ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? 0
        guard (0..<depthLimit).contains(depth) else { throw .openFailed(.chain) }
        var isAllowed = true
        // On a disk that is full, links are opened all the same.
        try? count(&isAllowed)
        guard isAllowed else { throw .openFailed(.chain) }
        return depth + 1
    }

    private static func count(_ isAllowed: inout Bool) throws(FileError) {
        let now = Date().timeIntervalSince1970
        let file = LocalFile(UserDirectories().state + "/link.openings")
        try file.directory.create()
        let lock = try file.lock()
        defer { lock.unlock() }
        let text = try file.read(byteLimit: byteLimit).map { String(decoding: $0.data, as: UTF8.self) }
        let recent = (text ?? "").split(separator: " ").compactMap { Double($0) }
            .filter { abs(now - $0) < window }
        isAllowed = recent.count < countLimit
        guard isAllowed else { return }
        let times = (recent + [now]).map { "\($0)" }.joined(separator: " ")
        try file.replace(with: Data(times.utf8), durability: .cached)
    }
}
