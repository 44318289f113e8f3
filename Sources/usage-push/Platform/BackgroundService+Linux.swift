#if os(Linux) || os(Android)
    import Foundation
    import LocalFiles
    import UsagePusher

    /// The pusher as a user service of systemd. Calls block.
    enum BackgroundService {
        private static let name = "usage-push.service"
        private static let messageCount = 5

        static func file(_ variables: [String: String], home: String) -> LocalFile {
            let configuration = variables["XDG_CONFIG_HOME"].flatMap {
                $0.hasPrefix("/") ? $0 : nil
            }
            return LocalFile((configuration ?? home + "/.config") + "/systemd/user/" + name)
        }

        static func text(_ unit: ServiceUnit) -> String { unit.systemdText }

        /// Enables the installed unit and starts it; restarts it if it was replaced.
        static func start(_ file: LocalFile, isReplaced: Bool) -> ServiceStart {
            guard let systemctl = SystemTool("systemctl") else {
                return .unavailable("systemctl is not on this machine")
            }
            let reload = systemctl.run("--user", "daemon-reload")
            guard reload.isSuccess else { return .unavailable(reason(reload)) }
            let enable = systemctl.run("--user", "enable", "--now", name)
            guard enable.isSuccess else { return .failed(reason(enable)) }
            if isReplaced {
                let restart = systemctl.run("--user", "restart", name)
                guard restart.isSuccess else { return .failed(reason(restart)) }
            }
            return .started(notes: isLingering == false ? [lingering] : [])
        }

        /// Stops and disables the service, then removes its file.
        ///
        /// - Returns: what systemd could not do; nil if all is done.
        static func remove(_ file: LocalFile) throws(FileError) -> String? {
            let systemctl = SystemTool("systemctl")
            let disable = systemctl?.run("--user", "disable", "--now", name)
            try file.remove()
            _ = systemctl?.run("--user", "daemon-reload")
            return disable.flatMap { $0.isSuccess ? nil : reason($0) }
        }

        static var state: ServiceState {
            guard let systemctl = SystemTool("systemctl") else {
                return ServiceState(description: "unknown: systemctl is not on this machine")
            }
            let show = systemctl.run(
                "--user", "show", name,
                "--property=ActiveState,SubState,UnitFileState,Result,NRestarts")
            guard show.isSuccess else {
                return ServiceState(description: "unknown: " + reason(show))
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
            return ServiceState(
                isActive: active == "active", isEnabled: values["UnitFileState"] == "enabled",
                description: description, messages: messages)
        }

        private static var messages: [String] {
            let log = SystemTool("journalctl")?.run(
                "--user", "--unit=" + name, "--identifier=usage-push", "--output=cat", "--quiet",
                "--no-pager", "--lines=\(messageCount)")
            return log.flatMap { $0.isSuccess ? $0.lines.suffix(messageCount) : nil } ?? []
        }

        /// Nil when it cannot be found out.
        private static var isLingering: Bool? {
            let show = SystemTool("loginctl")?.run(
                "show-user", NSUserName(), "--property=Linger", "--value")
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
