import Commands
import Dispatch
import Essentials
import LocalFiles

/// Runs the enabled plug-ins, each at most once per interval over all processes, and writes their outcomes where
/// `PluginsSource` reads and watches them.
package struct PluginRuns: Sendable {
    /// Not those with a name for credentials, such as XDG_ACTIVATION_TOKEN.
    package static let inheritedVariables = [
        "PATH", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
        "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS",
    ]
    /// From one look at what is due to the next.
    private static let checkInterval = Duration.seconds(15)

    private let environment: SourceEnvironment
    private let limits: ProgramLimits?

    /// - Parameter limits: instead of the usual ones with the plug-in's own time.
    init(_ environment: SourceEnvironment, limits: ProgramLimits? = nil) {
        self.environment = environment
        self.limits = limits
    }

    /// Runs those that are due, all at the same time, and returns when the last has ended or was stopped. Blocks the
    /// thread.
    package func runDue(isCancelled: @escaping @Sendable () -> Bool = { false }) {
        let group = DispatchGroup()
        for (name, plugin) in environment.plugins where isDue(name, plugin) {
            // A queue each, which has a thread of its own: they wait, and the shared ones have no more than there are
            // cores.
            group.enter()
            DispatchQueue(label: "plugin").async {
                run(name, plugin, isCancelled)
                group.leave()
            }
        }
        group.wait()
    }

    /// Runs them again and again until the task is cancelled; what runs then is killed.
    package func run() async {
        while !Task.isCancelled {
            await BlockingWork.run("plugins") { runDue(isCancelled: $0) }
            try? await Task.sleep(for: Self.checkInterval)  // Cancelled: the loop ends.
        }
    }

    /// A time in the future is of a clock that was wrong.
    private func isDue(_ name: String, _ plugin: EnabledPlugin) -> Bool {
        // One that cannot be read is replaced by the next.
        guard let last = (try? PluginOutcome.read(name, in: environment)) ?? nil else { return true }
        return !(0..<Double(plugin.interval)).contains(Date().timeIntervalSince(last.ranAt))
    }

    /// A plug-in that must not run, or whose outcome cannot be kept, is not started; the source says so.
    private func run(_ name: String, _ plugin: EnabledPlugin, _ isCancelled: () -> Bool) {
        let file = PluginFile(name, in: environment)
        let directory = PluginOutcome.directory(environment)
        // See above.
        guard (try? file.check(plugin)) != nil,
            (try? LocalDirectory(directory).create()) != nil,
            let lock = try? FileLock("\(directory)/\(name).lock"),
            (try? lock.lockIfAvailable()) == true, isDue(name, plugin)
        else { return }
        var bounds = limits ?? ProgramLimits()
        if limits == nil { bounds.seconds = Double(plugin.timeout) }
        let process = BoundedProcess(
            confined: file.path, variables: variables, limits: bounds, isCancelled: isCancelled)
        guard process.end != .cancelled else { return }
        // Without one, no card stays of a provider that fails now.
        let former = (try? PluginOutcome.read(name, in: environment)) ?? nil
        let outcome = PluginOutcome(process, seconds: plugin.timeout, following: former, at: Date())
        try? outcome.write(name, in: environment)  // The next run tries again.
    }

    private var variables: [String: String] {
        var variables = environment.variables.filter { Self.inheritedVariables.contains($0.key) }
        variables["HOME"] = environment.home
        return variables
    }
}
