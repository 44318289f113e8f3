import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// A machine of a person, with a home directory of its own and nothing that manages services.
final class DoorHome: Sendable {
    let home: TemporaryHome

    /// - Parameter percent: of the session limit that Codex has written, the higher the later, so that of two machines
    ///   the higher one is shown; nil without any tool.
    init(percent: Int? = 36, variables: [String: String] = [:]) throws {
        var home = try TemporaryHome()
        home.variables = ["PATH": "\(home.path)/programs:/usr/bin:/bin"].merging(variables) { $1 }
        self.home = home
        try program("systemctl", "echo 'Failed to connect to bus' >&2; exit 1")
        if let percent { try write(percent: percent) }
    }

    /// In place of what Codex has written.
    func write(percent: Int) throws {
        let now = Date()
        let reset = Int(now.addingTimeInterval(7_200).timeIntervalSince1970)
        try home.file(
            ".codex/sessions/2026/09/18/rollout-a.jsonl",
            #"{"timestamp":"\#((now - Double(100 - percent)).formatted(.iso8601))","type":"event_msg","payload":{"#
                + #""type":"token_count","rate_limits":{"primary":{"used_percent":\#(percent),"#
                + #""window_minutes":300,"resets_at":\#(reset)}}}}"# + "\n")
    }

    /// What was started in the background leads sessions of its own.
    deinit {
        for program in ["kvsd", "usage-push"] {
            let file = home.path + "/.local/state/ubiquity/\(program).running"
            guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { continue }
            if let number = text.split(separator: " ").first.flatMap({ pid_t($0) }) {
                Foundation.kill(number, SIGKILL)
            }
        }
        home.remove()
    }

    /// Kills what runs in the background, as the system may.
    func kill(_ program: String) async throws {
        try #require(Foundation.kill(try process(program), SIGKILL) == 0)
        let lock = open(home.path + "/.local/state/ubiquity/\(program).running", O_RDONLY | O_CLOEXEC)
        defer { close(lock) }
        // It has ended once nobody holds its lock.
        try await wait { flock(lock, LOCK_EX | LOCK_NB) == 0 }
    }

    /// The number of what runs in the background.
    func process(_ program: String) throws -> pid_t {
        let file = home.path + "/.local/state/ubiquity/\(program).running"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        return try #require(text.split(separator: " ").first.flatMap { pid_t($0) })
    }

    /// A shell script in the search path, before those of the system.
    func program(_ name: String, _ script: String) throws {
        let path = try home.file("programs/\(name)", "#!/bin/sh\n\(script)\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    /// From now on a service manager answers, which starts nothing, and may let services run without a login.
    func manageServices(mayLinger: Bool = true) throws {
        let services = try home.directory("programs/services")
        try program(
            "systemctl",
            """
            shift
            case "$1" in
            enable) touch '\(services)'/"$3" ;;
            disable) rm -f '\(services)'/"$3" ;;
            show) if [ -e '\(services)'/"$2" ]; then echo ActiveState=active; echo UnitFileState=enabled
                else echo ActiveState=inactive; echo UnitFileState=disabled; fi ;;
            esac
            """)
        try program(
            "loginctl",
            """
            case "$1" in
            show-user) if [ -e '\(services)/lingers' ]; then echo yes; else echo no; fi ;;
            enable-linger) \(mayLinger ? "touch '\(services)/lingers'" : "exit 1") ;;
            disable-linger) rm '\(services)/lingers' ;;
            esac
            """)
    }

    /// Whether a service is enabled, or with "lingers", whether services run without a login.
    func isServing(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(home.path)/programs/services/\(name)")
    }

    func ubq(_ arguments: String..., input: Data? = nil) async throws -> TemporaryHome.Outcome {
        try await home.run("ubq", arguments, input: input)
    }

    /// Runs a shell script in which the programs have their names, after those that were installed here.
    ///
    /// - Parameter wrapper: runs the shell.
    func shell(
        _ script: String, _ variables: [String: String] = [:], under wrapper: [String] = []
    ) async throws -> TemporaryHome.Outcome {
        let built = try #require(TemporaryHome.program("ubq")).deletingLastPathComponent().path
        let path = "PATH=\(home.path)/programs:\(built):/usr/bin:/bin"
        return try await home.run(
            "/usr/bin/env", variables.map { "\($0)=\($1)" } + [path] + wrapper + ["/bin/sh", "-c", script])
    }

    /// Makes this machine the home of the data, and returns the exit status.
    func up(under wrapper: [String] = []) async throws -> Int32 {
        try await shell("ubq up --yes --no-codes --port \(Self.port())", under: wrapper).status
    }

    /// A link to the program that was built, in place of another one.
    func install(_ program: String) throws {
        let link = try home.directory("programs") + "/" + program
        try? FileManager.default.removeItem(atPath: link)
        let built = try #require(TemporaryHome.program(program)).path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: built)
    }

    /// The same program as the version 0.0.9.
    func installOlder(_ program: String) async throws {
        let built = try #require(TemporaryHome.program(program)).path
        let path = try home.directory("programs") + "/" + program
        let outcome = try await home.shell("LC_ALL=C sed 's/0\\.1\\.0/0.0.9/' '\(built)' >'\(path)'")
        try #require(outcome.status == 0 && chmod(path, 0o755) == 0, "\(outcome.errors)")
    }

    /// What runs the shell as the ordinary user to whom this home belongs from now on.
    var ordinaryUser: [String] {
        get throws {
            guard getuid() == 0 else { return [] }
            let process = try Process.run(URL(filePath: "/usr/bin/chown"), arguments: ["-R", "65534:65534", home.path])
            process.waitUntilExit()
            return Surroundings.ordinaryUser
        }
    }

    /// Each file with its content, but for those of this product.
    func otherFiles() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: home.path)
        where !name.contains("ubiquity") && !name.contains("/lib/") {
            files[name] = FileManager.default.contents(atPath: home.path + "/" + name)
        }
        return files
    }

    /// A daemon of the test that others can join: another port than that of a daemon that may run here.
    static func port() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        try #require(isBound)
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// The line for the next machine that a command has printed.
    static func line(in text: String) throws -> String {
        String(try #require(text.firstMatch(of: /ubq join '(ubiquity:[^']*)'/), "\(text)").1)
    }

    /// The same line with the loopback address, which leads here from every network.
    static func local(_ line: String) -> String {
        line.replacing(/ubiquity:\/\/[^\/]*:/, with: "ubiquity://127.0.0.1:")
    }
}
