/// A program that runs in the background, as systemd and launchd describe it. Pure.
package struct ServiceUnit: Sendable, Equatable {
    package enum Scope: Sendable {
        /// Runs as the user who installs it.
        case user
        /// Runs as a user of its own, named after the program, with its data in `/var/lib/PROGRAM`.
        case system
    }

    /// The name of the program and of the unit.
    package var program: String
    package var description: String
    package var scope: Scope
    /// The absolute path of the program.
    package var executable: String
    package var arguments: [String]
    /// Environment variables that decide which files are read and written.
    package var variables: [String: String]
    /// Lines of the section `[Service]` that only this program has.
    package var directives: [String]

    /// Those of this product. Only paths: no other variable is copied, least of all a secret.
    package static let variableNames = [
        "UBIQUITY_CONFIG_DIR", "UBIQUITY_DATA_DIR", "UBIQUITY_STATE_DIR",
        "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
    ]

    /// - Parameters:
    ///   - variables: those of the process; the relevant ones are kept, and none for the system.
    ///   - names: of further relevant variables.
    package init(
        program: String, description: String, scope: Scope = .user, executable: String,
        arguments: [String], variables: [String: String], names: [String] = [], directives: [String] = []
    ) {
        let names = Self.variableNames + names
        self.program = program
        self.description = description
        self.scope = scope
        self.executable = executable
        self.arguments = arguments
        self.directives = directives
        self.variables = variables.filter { name, value in
            scope == .user && names.contains(name)
                && !value.unicodeScalars.contains { $0.properties.generalCategory == .control }
        }
    }

    /// The first line of every unit that a program writes.
    package static func mark(of program: String) -> String {
        "# Written by \(program) service install."
    }

    /// A systemd unit.
    package var systemdText: String {
        // A dollar sign would begin a variable there.
        let command = ([executable] + arguments)
            .map { Self.quoted($0).replacing("$", with: "$$") }
            .joined(separator: " ")
        let environment = variables.sorted { $0.key < $1.key }
            .map { "Environment=\(Self.quoted("\($0.key)=\($0.value)"))" }
        let service =
            ["Type=simple", "ExecStart=\(command)"] + environment + [Self.silence]
            + ["Restart=on-failure", "RestartSec=5", "RestartSteps=6", "RestartMaxDelaySec=5min"]
            + directives + Self.confinement + (scope == .system ? systemConfinement : [])
        let target =
            switch scope {
            case .user: "default.target"
            case .system: "multi-user.target"
            }
        return """
            \(Self.mark(of: program))
            [Unit]
            Description=\(description)
            \(scope == .system ? "Wants=network-online.target\nAfter=network-online.target\n" : "")\
            StartLimitIntervalSec=0

            [Service]
            \(service.joined(separator: "\n"))

            [Install]
            WantedBy=\(target)

            """
    }

    /// Dispatch logs each thread whose priority it may not raise, which an ordinary user's program may not: nothing is
    /// wrong, and the journal would begin with it.
    private static let silence = "Environment=LIBDISPATCH_LOG=NO"

    /// Seccomp and prctl alone. Sandboxes of the file system need unprivileged user namespaces, and a user unit that
    /// asks for them does not start where these are restricted.
    private static let confinement = [
        "UMask=0077",
        "NoNewPrivileges=true",
        "LockPersonality=true",
        "MemoryDenyWriteExecute=true",
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
        "RestrictNamespaces=true",
        "RestrictRealtime=true",
        "RestrictSUIDSGID=true",
        "SystemCallArchitectures=native",
        "SystemCallFilter=@system-service",
        "SystemCallErrorNumber=EPERM",
    ]

    private var systemConfinement: [String] {
        [
            "User=\(program)",
            "Group=\(program)",
            "StateDirectory=\(program)",
            "StateDirectoryMode=0700",
            "SystemCallFilter=~@privileged @resources",
            // What is needed of @resources: the limit on open files, and the priorities of Dispatch's threads.
            "SystemCallFilter=prlimit64 getrlimit setrlimit ugetrlimit setpriority",
            "CapabilityBoundingSet=",
            "AmbientCapabilities=",
            "DevicePolicy=closed",
            "KeyringMode=private",
            "PrivateDevices=true",
            "PrivateTmp=true",
            "PrivateUsers=true",
            "ProcSubset=pid",
            "ProtectClock=true",
            "ProtectControlGroups=true",
            "ProtectHome=true",
            "ProtectHostname=true",
            "ProtectKernelLogs=true",
            "ProtectKernelModules=true",
            "ProtectKernelTunables=true",
            "ProtectProc=invisible",
            "ProtectSystem=strict",
            "RemoveIPC=true",
        ]
    }

    /// One word of a unit file.
    package static func quoted(_ text: String) -> String {
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
