import Foundation
import TestSupport
import Testing

/// Another machine behind a real sshd on loopback, with a home directory of its own.
final class SSHMachine: Sendable {
    let home: DoorHome
    private let server: RunningProgram
    private static let program = "/usr/sbin/sshd"
    static var isPossible: Bool { FileManager.default.isExecutableFile(atPath: program) }

    /// - Parameter user: the machine whose `ssh` knows it as `box`.
    init(percent: Int? = 71, knownTo user: DoorHome) async throws {
        home = try DoorHome(percent: percent)
        let port = try DoorHome.port()
        let keys = user.home.path + "/.ssh"
        try user.home.directory(".ssh")
        for name in ["host", "user"] {
            let made = try await user.home.run(
                "/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", "\(keys)/\(name)"])
            try #require(made.status == 0, "\(made.errors)")
        }
        // What sshd changes to when it is root.
        if getuid() == 0 {
            try? FileManager.default.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: true)
        }
        let configuration = try user.home.file(
            ".ssh/sshd_config",
            """
            ListenAddress 127.0.0.1
            Port \(port)
            HostKey \(keys)/host
            AuthorizedKeysFile \(keys)/user.pub
            StrictModes no
            UsePAM no
            PidFile none
            PermitRootLogin yes
            SetEnv HOME=\(home.home.path) PATH=\(home.home.path)/programs:/usr/bin:/bin

            """)
        try user.home.file(
            ".ssh/config",
            """
            Host box
              HostName 127.0.0.1
              Port \(port)
              User \(NSUserName())
              IdentityFile \(keys)/user
              IdentitiesOnly yes
              UserKnownHostsFile \(keys)/known
              StrictHostKeyChecking accept-new

            """)
        // It looks for its files in the home of the account, not in $HOME.
        try user.program("ssh", "exec /usr/bin/ssh -F '\(keys)/config' \"$@\"")
        server = try RunningProgram(user.home, Self.program, ["-D", "-e", "-f", configuration])
        _ = await server.errors.first { $0.contains("Server listening") }
    }

    /// Kills all that runs on it but sshd, at once, and what is started meanwhile.
    func losePower() throws {
        let own = Data("HOME=\(home.home.path)\0".utf8)
        var isRunning = true
        while isRunning {
            isRunning = false
            for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
                guard let process = pid_t(name),
                    FileManager.default.contents(atPath: "/proc/\(name)/environ")?.firstRange(of: own) != nil
                else { continue }
                isRunning = true
                kill(process, SIGKILL)
            }
        }
    }

    /// From now on it refuses connections.
    func stop() async {
        server.send(SIGTERM)
        _ = await server.status()
    }
}
