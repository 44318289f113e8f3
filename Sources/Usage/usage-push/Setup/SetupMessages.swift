import LocalFiles
import TerminalText
import UsagePusher

/// The texts of `usage-push setup`. Pure; texts from files are escaped.
struct SetupMessages {
    let home: String
    let isUndo: Bool

    /// The tools that were found.
    func homes(_ plan: SetupPlan) -> [String] {
        var table = TextTable(columns: [.init(""), .init(""), .init("")])
        for tool in UsageSources.withHomes {
            let homes = plan.homes.known.filter { $0.providerID == tool.providerID }
            if homes.isEmpty { table.append([tool.toolName, "not found"]) }
            for home in homes {
                table.append([tool.toolName, shown(home.path), state(home, plan)])
            }
        }
        for home in plan.homes.unread { table.append([Self.name(home), shown(home.path), isUndo ? "" : "not read"]) }
        return table.lines()
    }

    func question(_ home: ToolHome) -> String { "\(Self.name(home)) also has a home in \(shown(home.path)). Read it?" }

    /// What comes next.
    ///
    /// - Parameter canAsk: whether the user was asked.
    func end(_ plan: SetupPlan, isChanged: Bool, canAsk: Bool) -> [String] {
        let option = isUndo ? " --undo" : ""
        if isChanged {
            return isUndo
                ? ["Your own status line is restored."]
                : ["The next answer in a Claude Code session is captured." + " To undo this: usage-push setup --undo"]
        }
        let hasQuestions = !plan.changes.isEmpty || (!isUndo && !plan.homes.unread.isEmpty)
        if hasQuestions {
            return [
                canAsk ? "Nothing was changed." : "Nothing was changed. To do this: usage-push setup\(option) --yes"
            ]
        }
        if !plan.failures.isEmpty { return [] }
        return [isUndo ? "Nothing to undo." : "Nothing left to set up."]
    }

    /// What keeps the capture from running.
    func statuslineOverride(_ plan: SetupPlan) -> [String] {
        guard let override = plan.statuslineOverride else { return [] }
        let path = shown(override.path)
        return [
            override.isManaged
                ? "The managed settings in \(path) set the status line, so the capture will not run on this machine."
                : "The project settings in \(path) set the status line, so the capture will not run in this directory."
        ]
    }

    private static func name(_ home: ToolHome) -> String {
        UsageSources.all.first { $0.providerID == home.providerID }?.toolName ?? VisibleText.escape(home.providerID)
    }

    private func state(_ tool: ToolHome, _ plan: SetupPlan) -> String {
        if isUndo { return "" }
        guard let path = ToolSettingsFile(home: tool)?.path else { return "needs no setup" }
        if plan.failures.contains(where: { $0.path == path }) { return "cannot be set up" }
        return plan.changes.contains { $0.file.path == path }
            ? "status line is not captured" : "status line is captured"
    }

    private func shown(_ path: String) -> String { VisibleText.escape(UserDirectories.abbreviated(path, home: home)) }
}
