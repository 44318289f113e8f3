import Commands
import Foundation
import TestSupport
import Synchronization
import Testing

/// A display of its own with its clipboard, in a private home: sway without a screen, or Xvfb.
struct ClipboardSession: Sendable {
    enum Kind: String, Sendable {
        case sway, xvfb

        var isInstalled: Bool { missing(programs).isEmpty }

        /// All that a session of this kind needs.
        var programs: [String] {
            switch self {
            case .sway: ["sway", "wl-copy", "wl-paste"]
            case .xvfb: ["Xvfb", "xauth", "xclip"]
            }
        }
    }

    let kind: Kind
    let home: TemporaryHome
    let display: SessionProcess

    /// The environment of programs in the session.
    var variables: [String: String] {
        ["HOME": home.path, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"].merging(home.variables) { $1 }
    }

    init(_ kind: Kind) async throws {
        self.kind = kind
        let bare = try TemporaryHome()
        (home, display) =
            switch kind {
            case .sway: try await Self.sway(bare)
            case .xvfb: try await Self.xvfb(bare)
            }
    }

    func end() async {
        await display.end()
        home.remove()
    }

    /// A home for the data of one test in the same display.
    func newHome() throws -> TemporaryHome {
        var other = try TemporaryHome()
        other.variables = home.variables
        return other
    }

    private static func sway(_ home: TemporaryHome) async throws -> (TemporaryHome, SessionProcess) {
        var home = home
        let directory = try home.directory("run")
        let configuration = try home.file("sway.conf", "xwayland disable\nexec echo \"display $WAYLAND_DISPLAY\"\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory)
        home.variables = [
            "XDG_RUNTIME_DIR": directory, "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman",
            "WLR_LIBINPUT_NO_DEVICES": "1",
        ]
        var command = ["sway", "-c", configuration]
        if geteuid() == 0 {
            // sway refuses to run as root, which can use the display of any user.
            chown(directory, 65_534, 65_534)
            command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + command
        }
        let sway = try SessionProcess(home, command)
        home.variables = ["XDG_RUNTIME_DIR": directory, "XDG_SESSION_TYPE": "wayland"]
        home.variables["WAYLAND_DISPLAY"] = try await sway.line(after: "display ")
        return (home, sway)
    }

    private static func xvfb(_ home: TemporaryHome) async throws -> (TemporaryHome, SessionProcess) {
        var home = home
        let authority = "\(home.path)/authority"
        let cookie = (0..<16).map { _ in UInt8.random(in: 0...255) }.map { String(format: "%02x", $0) }.joined()
        // The file is read before the number of the display is known.
        _ = try await home.run("/usr/bin/xauth", ["-f", authority, "add", ":0", ".", cookie])
        let server = try SessionProcess(
            home,
            [
                "Xvfb", "-displayfd", "1", "-auth", authority, "-nolisten", "tcp",
                "-screen", "0", "320x200x8", "-noreset",
            ])
        let number = try await server.line(after: "")
        home.variables = ["DISPLAY": ":\(number)", "XAUTHORITY": authority]
        _ = try await home.run("/usr/bin/xauth", ["-f", authority, "add", ":\(number)", ".", cookie])
        return (home, server)
    }
}

/// A program that a session consists of, in a process group of its own.
final class SessionProcess: Sendable {
    private let process: ChildProcess
    private let output: Pipe
    private let hasEnded = Mutex(false)

    /// With no signal blocked, as they are in programs that a test starts in another way: sway and tmux would not end.
    ///
    /// - Parameter terminal: becomes all three standard streams.
    init(_ home: TemporaryHome, _ command: [String], terminal: PseudoTerminal? = nil) throws {
        output = Pipe()
        let writing = output.fileHandleForWriting.fileDescriptor
        let null = try FileHandle(forUpdating: URL(filePath: "/dev/null"))
        process = try #require(
            ChildProcess(
                command[0], arguments: Array(command.dropFirst()),
                standardInput: terminal?.program ?? null.fileDescriptor, output: terminal?.program ?? writing,
                errors: terminal?.program ?? null.fileDescriptor, firstClosed: STDERR_FILENO + 1,
                variables: ["HOME": home.path, "PATH": "/usr/bin:/bin"].merging(home.variables) { $1 },
                inheritsVariables: false, leadsGroup: true))
        try output.fileHandleForWriting.close()
    }

    deinit { kill() }

    /// What it prints when it is ready: a line that begins with `text`.
    func line(after text: String) async throws -> String {
        var bytes = Data()
        while true {
            let part = output.fileHandleForReading.availableData
            try #require(!part.isEmpty, "the display did not start")
            bytes += part
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            if let line = lines.dropLast().first(where: { $0.hasPrefix(text) }) {
                return String(line.dropFirst(text.count))
            }
        }
    }

    func end() async {
        hasEnded.withLock { hasEnded in
            guard !hasEnded else { return }
            process.send(SIGTERM)
            process.wait()
            hasEnded = true
        }
    }

    func kill() {
        hasEnded.withLock { hasEnded in
            guard !hasEnded else { return }
            process.send(SIGKILL)
            process.wait()
            hasEnded = true
        }
    }
}

/// Runs the tests of a suite once in each of some sessions, each started once.
struct SessionTrait: SuiteTrait, TestScoping {
    let kinds: [ClipboardSession.Kind]

    @TaskLocal static var session: ClipboardSession?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        for kind in kinds {
            guard kind.isInstalled else {
                print("\(test.displayName ?? test.name): no \(missing(kind.programs)).")
                continue
            }
            let session = try await ClipboardSession(kind)
            do {
                try await Self.$session.withValue(session) { try await body() }
            } catch {
                await session.end()
                throw error
            }
            await session.end()
        }
    }
}

extension Trait where Self == SessionTrait {
    static func sessions(_ kinds: [ClipboardSession.Kind]) -> SessionTrait { SessionTrait(kinds: kinds) }
}

extension Trait where Self == ConditionTrait {
    static func requires(programs: [String]) -> ConditionTrait {
        .enabled(
            if: missing(programs).isEmpty,
            "scripts/bootstrap --tests has not installed \(missing(programs).joined(separator: ", "))"
        )
    }
}

private func missing(_ programs: [String]) -> [String] {
    programs.filter { !FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
}
