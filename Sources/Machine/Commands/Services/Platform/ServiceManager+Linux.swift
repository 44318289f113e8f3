#if os(Linux) || os(Android)
    import Essentials
    import LocalFiles

    /// A unit of systemd. Calls block.
    struct ServiceManager {
        let program: String
        let scope: ServiceUnit.Scope

        private static let messageCount = 5

        private var name: String { program + ".service" }
        private var scopeOptions: [String] { scope == .user ? ["--user"] : [] }

        func file(_ variables: [String: String], home: String) -> LocalFile {
            guard scope == .user else { return LocalFile("/etc/systemd/system/" + name) }
            let configuration = variables["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            return LocalFile((configuration ?? home + "/.config") + "/systemd/user/" + name)
        }

        /// The unit of a distribution's package, which the one at `file` overrides.
        var packagedFile: LocalFile? { LocalFile("/usr/lib/systemd/\(scope == .user ? "user" : "system")/" + name) }

        func text(_ unit: ServiceUnit) -> String { unit.systemdText }

        private func run(_ tool: SystemTool, _ arguments: String...) -> SystemTool.Outcome {
            tool.run(scopeOptions + arguments, variables: scope == .user ? Self.runtimeDirectory : [:])
        }

        /// `XDG_RUNTIME_DIR` where `su` or cron has left it unset: systemctl finds the user's manager by it.
        private static var runtimeDirectory: [String: String] {
            let directory = "/run/user/\(getuid())"
            let isUnset = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] == nil
            return isUnset && FileManager.default.fileExists(atPath: directory) ? ["XDG_RUNTIME_DIR": directory] : [:]
        }

        /// Enables the installed unit and starts it; restarts it if it was replaced.
        func start(_ file: LocalFile, isReplaced: Bool) -> ServiceStart {
            guard let systemctl = SystemTool("systemctl") else {
                return .unavailable("systemctl is not on this machine")
            }
            let reload = run(systemctl, "daemon-reload")
            guard reload.isSuccess else { return .unavailable(Self.reason(reload)) }
            if scope == .system, let reason = createUser() { return .failed(reason) }
            let enable = run(systemctl, "enable", "--now", name)
            guard enable.isSuccess else { return .failed(Self.reason(enable)) }
            if isReplaced {
                let restart = run(systemctl, "restart", name)
                guard restart.isSuccess else { return .failed(Self.reason(restart)) }
            }
            let isUnattended = scope == .system || isLingering != false
            return .started(notes: isUnattended ? [] : [Self.lingering])
        }

        /// Creates the user of a system unit if it is missing; returns why it cannot.
        private func createUser() -> String? {
            guard getpwnam(program) == nil else { return nil }
            let home = "/var/lib/" + program
            guard let tool = SystemTool("systemd-sysusers") else {
                return "systemd-sysusers, which creates the user \(program), is not on this machine"
            }
            let outcome = tool.run(["--inline", "u \(program) - \"\(program)\" \(home)"])
            return outcome.isSuccess ? nil : Self.reason(outcome)
        }

        /// Stops and disables the service, then removes its file, and of a user's directories what is empty then.
        ///
        /// - Parameter file: nil for a package's, which stays.
        /// - Returns: what systemd could not do; nil if all is done.
        func remove(_ file: LocalFile?) throws(FileError) -> String? {
            let systemctl = SystemTool("systemctl")
            let disable = systemctl.map { run($0, "disable", "--now", name) }
            try file?.remove()
            if scope == .user, let directory = file?.directory {
                // Those in which others have files stay.
                for empty in [directory, LocalFile(directory.path).directory] { try? empty.remove() }
            }
            _ = systemctl.map { run($0, "daemon-reload") }
            return disable.flatMap { $0.isSuccess ? nil : Self.reason($0) }
        }

        var state: ServiceState {
            guard let systemctl = SystemTool("systemctl") else {
                return ServiceState(isManaged: false, description: "unknown: systemctl is not on this machine")
            }
            let show = run(systemctl, "show", name, "--property=ActiveState,SubState,UnitFileState,Result,NRestarts")
            guard show.isSuccess else {
                return ServiceState(isManaged: false, description: "unknown: " + Self.reason(show))
            }
            var values: [Substring: Substring] = [:]
            for line in show.lines {
                let parts = line.split(separator: "=", maxSplits: 1)
                if parts.count == 2 { values[parts[0]] = parts[1] }
            }
            let active = values["ActiveState"] ?? "unknown"
            var description = "\(active) (\(values["SubState"] ?? "unknown"))"
            if let result = values["Result"], result != "success" { description += ", \(result)" }
            if let count = values["NRestarts"], count != "0" {
                description += ", \(count) restarts"
            }
            let isActive = active == "active"
            return ServiceState(
                isActive: isActive, isEnabled: values["UnitFileState"] == "enabled",
                endsWithLogin: isActive && scope == .user ? isLingering.map { !$0 } : nil, description: description,
                messages: messages)
        }

        private var messages: [String] {
            let log = SystemTool("journalctl").map {
                run(
                    $0, "--unit=" + name, "--identifier=" + program, "--output=cat", "--quiet",
                    "--no-pager", "--lines=\(Self.messageCount)")
            }
            return log.flatMap { $0.isSuccess ? $0.lines.suffix(Self.messageCount) : nil } ?? []
        }

        /// Nil when it cannot be found out.
        private var isLingering: Bool? {
            let show = SystemTool("loginctl")?.run(["show-user", "\(getuid())", "--property=Linger", "--value"])
            guard let show, show.isSuccess else { return nil }
            return show.lines.first.map { $0 == "yes" }
        }

        private static let lingering = """
            It runs while you are logged in. To keep it running without a session:
              loginctl enable-linger
            """

        private static func reason(_ outcome: SystemTool.Outcome) -> String {
            outcome.lines.first ?? "systemctl exited with \(outcome.status)"
        }
    }
#endif
