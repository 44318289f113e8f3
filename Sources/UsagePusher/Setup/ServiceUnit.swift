/// The service that keeps `usage-push --watch` running in the background. Pure.
package struct ServiceUnit: Sendable, Equatable {
    /// The first line of every unit that this type writes.
    package static let mark = "# Written by usage-push service install."

    /// The absolute path of the program.
    package var executable: String
    package var arguments = ["--watch", "--quiet"]
    /// Environment variables that decide which files are read and written.
    package var variables: [String: String]

    /// Only paths: no other variable is copied, least of all a secret.
    private static let variableNames = [
        "CLAUDE_CONFIG_DIR", "CODEX_HOME", "UBIQUITY_CONFIG_DIR", "UBIQUITY_DATA_DIR",
        "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
    ]

    /// - Parameter variables: those of the process; the relevant ones are kept.
    package init(executable: String, variables: [String: String]) {
        self.executable = executable
        self.variables = variables.filter { name, value in
            Self.variableNames.contains(name)
                && !value.unicodeScalars.contains { $0.properties.generalCategory == .control }
        }
    }

    /// A systemd user unit.
    ///
    /// It is confined by seccomp and prctl alone. Sandboxes of the file system need unprivileged
    /// user namespaces, and a unit that asks for them does not start where these are restricted.
    package var systemdText: String {
        let command = ([Self.quoted(executable)] + arguments).joined(separator: " ")
        let environment = variables.sorted { $0.key < $1.key }
            .map { "Environment=\(Self.quoted("\($0.key)=\($0.value)"))\n" }.joined()
        return """
            \(Self.mark)
            [Unit]
            Description=Ubiquity usage pusher for AI coding tools
            StartLimitIntervalSec=0

            [Service]
            Type=simple
            ExecStart=\(command)
            \(environment)Restart=on-failure
            RestartSec=5
            RestartSteps=6
            RestartMaxDelaySec=5min
            Nice=10
            UMask=0077
            NoNewPrivileges=true
            LockPersonality=true
            MemoryDenyWriteExecute=true
            RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
            RestrictNamespaces=true
            RestrictRealtime=true
            RestrictSUIDSGID=true
            SystemCallArchitectures=native
            SystemCallFilter=@system-service
            SystemCallErrorNumber=EPERM

            [Install]
            WantedBy=default.target

            """
    }

    /// One word of a unit file.
    private static func quoted(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\", "\"": result += "\\" + String(character)
            case "%": result += "%%"
            default: result.append(character)
            }
        }
        let isPlain = result.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII && scalar.value > 0x20 && !"\\\"'".unicodeScalars.contains(scalar)
        }
        return isPlain ? result : "\"\(result)\""
    }
}
