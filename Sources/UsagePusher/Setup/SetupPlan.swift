package import LocalFiles

/// What is set up for the tools on this machine, and what is left to do.
package struct SetupPlan: Sendable, Equatable {
    package private(set) var homes: ToolHomes
    package private(set) var changes: [ToolSettingsFile.Change] = []
    /// Files that cannot be changed.
    package private(set) var failures: [FileError] = []
    /// What keeps the capture from running where setup was started; nil without Claude Code.
    package private(set) var statuslineOverride: StatuslineOverride?

    /// Plans to add the capture of Claude Code's status line to all homes that are read.
    ///
    /// - Parameters:
    ///   - program: the pusher as a shell finds it: a name or an absolute path.
    ///   - directory: the present directory, which may have settings of its own.
    package static func setUp(
        _ environment: SourceEnvironment, program: String, directory: String,
        managedPath: String = StatuslineOverride.managedPath
    ) -> SetupPlan {
        var plan = SetupPlan(environment) { homes in
            homes.known
        } change: { file throws(FileError) in
            try file.captureAddition(program: program)
        }
        if plan.homes.known.contains(where: { ToolSettingsFile(home: $0) != nil }) {
            plan.statuslineOverride = StatuslineOverride(
                directory: directory, managedPath: managedPath, homes: plan.homes.known)
        }
        return plan
    }

    /// Plans to remove the capture from all homes, also from those that are no longer read.
    package static func undo(_ environment: SourceEnvironment) -> SetupPlan {
        SetupPlan(environment) { homes in
            homes.known + homes.unread
        } change: { file throws(FileError) in
            try file.captureRemoval()
        }
    }

    private init(
        _ environment: SourceEnvironment, in selection: (ToolHomes) -> [ToolHome],
        change: (ToolSettingsFile) throws(FileError) -> ToolSettingsFile.Change?
    ) {
        homes = ToolHomes(environment)
        for file in selection(homes).compactMap(ToolSettingsFile.init(home:)) {
            do throws(FileError) {
                if let change = try change(file) {
                    changes.append(change)
                }
            } catch {
                failures.append(error)
            }
        }
    }
}
