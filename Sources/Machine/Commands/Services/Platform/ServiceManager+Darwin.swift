#if canImport(Darwin)
    import Essentials
    import LocalFiles
    import TerminalText

    /// An agent of launchd for a user, a daemon for the system. Calls block.
    struct ServiceManager {
        let program: String
        let scope: ServiceUnit.Scope

        private var label: String { "io.github.ubiquity." + program }
        private var domain: String { scope == .user ? "gui/\(getuid())" : "system" }

        func file(_ variables: [String: String], home: String) -> LocalFile {
            let library = scope == .user ? home + "/Library/LaunchAgents" : "/Library/LaunchDaemons"
            return LocalFile("\(library)/\(label).plist")
        }

        var packagedFile: LocalFile? { nil }

        func text(_ unit: ServiceUnit) -> String {
            let arguments = ([unit.executable] + unit.arguments).map { "<string>\(XMLText.escape($0))</string>" }
            let variables = unit.variables.sorted { $0.key < $1.key }
                .map { "<key>\(XMLText.escape($0.key))</key><string>\(XMLText.escape($0.value))</string>" }
            return """
                <?xml version="1.0" encoding="UTF-8"?>
                <!-- \(ServiceUnit.mark(of: program)) -->
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
                "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0">
                <dict>
                  <key>Label</key><string>\(label)</string>
                  <key>ProgramArguments</key><array>\(arguments.joined())</array>
                  <key>EnvironmentVariables</key><dict>\(variables.joined())</dict>
                  <key>RunAtLoad</key><true/>
                  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
                  <key>ThrottleInterval</key><integer>30</integer>
                  <key>ProcessType</key><string>Background</string>
                  <key>Umask</key><integer>63</integer>
                </dict>
                </plist>

                """
        }

        /// Loads and starts the installed agent; reloads it if it was replaced.
        func start(_ file: LocalFile, isReplaced: Bool) -> ServiceStart {
            guard let launchctl = SystemTool("launchctl") else {
                return .unavailable("launchctl is not on this machine")
            }
            if isReplaced { _ = launchctl.run(["bootout", "\(domain)/\(label)"]) }
            let load = launchctl.run(["bootstrap", domain, file.path])
            let isLoaded = load.isSuccess || launchctl.run(["print", "\(domain)/\(label)"]).isSuccess
            return isLoaded ? .started(notes: []) : .failed(reason(load))
        }

        /// Stops the agent, then removes its file.
        ///
        /// - Parameter file: nil for one that is not the user's own.
        /// - Returns: what launchd could not do; nil if all is done.
        func remove(_ file: LocalFile?) throws(FileError) -> String? {
            let unload = SystemTool("launchctl")?.run(["bootout", "\(domain)/\(label)"])
            try file?.remove()
            return unload.flatMap { $0.isSuccess ? nil : reason($0) }
        }

        var state: ServiceState {
            guard let show = SystemTool("launchctl")?.run(["print", "\(domain)/\(label)"]) else {
                return ServiceState(isManaged: false, description: "unknown: launchctl is not on this machine")
            }
            guard show.isSuccess else { return ServiceState(description: "not loaded") }
            let state = show.lines.lazy.map { $0.drop { $0 == " " || $0 == "\t" } }
                .first { $0.hasPrefix("state = ") }?.dropFirst("state = ".count)
            return ServiceState(
                isActive: state == "running", isEnabled: true, description: state.map(String.init) ?? "loaded")
        }

        private func reason(_ outcome: SystemTool.Outcome) -> String {
            outcome.lines.first ?? "launchctl exited with \(outcome.status)"
        }
    }
#endif
