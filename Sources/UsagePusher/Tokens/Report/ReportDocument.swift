/// A report as JSON with the members of ccusage's; docs/report-shapes.md has its families. Pure.
struct ReportDocument {
    let report: TokenReport
    let grouping: TokenReport.Grouping
    var byProject = false
    /// Whether every row states its project.
    var statesProject = false
    let format: ReportFormat

    var value: ReportValue {
        var members = ["totals": ReportValue.object(amount(report.total))]
        if !report.importedDays.isEmpty { members["importedDays"] = .count(report.importedDays.count) }
        if byProject, !report.rows.isEmpty {
            members["projects"] = .object(
                Dictionary(grouping: report.rows) { $0.project ?? ReportQuery.unknownProject }
                    .mapValues { .list($0.map(row)) })
        } else {
            members[listName] = .list(report.rows.map(row))
        }
        return .object(members)
    }

    private var listName: String {
        switch grouping {
        case .day: "daily"
        case .week: "weekly"
        case .month: "monthly"
        case .year: "yearly"
        case .project: "projects"
        case .model: "models"
        case .device: "machines"
        case .session: format.agents == .all ? "session" : "sessions"
        }
    }

    private var periodName: String { format.agents == .all ? "period" : grouping.columnName }

    private func row(_ row: TokenReport.Row) -> ReportValue {
        var members = amount(row.total)
        members[periodName] = .text(row.period)
        if byProject || statesProject, let project = row.project { members["project"] = .text(project) }
        let isSession = grouping == .session
        if format.agents == .codex {
            members["models"] = .object(
                row.models.reduce(into: [:]) { models, model in
                    models[model.name] = .object(
                        counts(model.amount, isCodex: true).merging(["isFallback": .flag(false)]) { $1 })
                })
            if isSession {
                members["lastActivity"] = .text(ReportClock.utc(row.last))
                members["sessionFile"] = .text(row.period)
                members["directory"] = .text("")
            }
            return .object(members)
        }
        let names = row.models.map(\.name)
        members["modelsUsed"] = .texts(format.agents == .all ? names.sorted() : names)
        members["modelBreakdowns"] = .list(row.models.byCost(format.mode).map(breakdown))
        switch (format.agents, isSession) {
        case (.all, false):
            members["agent"] = .text("all")
            members["metadata"] = .object(["agents": .texts(row.providers)])
        case (.all, true):
            members["agent"] = .text(row.providers.first ?? "")
            var metadata = ["lastActivity": ReportValue.text(ReportClock.utc(row.last))]
            if let project = row.project { metadata["projectPath"] = .text(project) }
            if row.providers == ["codex"] { metadata["reasoningOutputTokens"] = .count(row.total.counts.reasoning) }
            members["metadata"] = .object(metadata)
        case (_, true):
            members["lastActivity"] = .text(ReportClock.utc(row.last))
            members["firstActivity"] = .text(ReportClock.utc(row.first))
            members["projectPath"] = .text(row.project ?? ReportQuery.unknownProject)
        default: break
        }
        return .object(members)
    }

    private func breakdown(_ model: ModelUsage) -> ReportValue {
        var members = counts(model.amount)
        members["totalTokens"] = nil
        members["modelName"] = .text(model.name)
        if format.hasCosts {
            members["cost"] = .number(model.amount.cost.dollars(format.mode))
            members.merge(ReportValue.unpriced(model.amount, format.mode)) { $1 }
        }
        return .object(members)
    }

    private func amount(_ amount: UsageAmount) -> [String: ReportValue] {
        let isCodex = format.agents == .codex
        var members = counts(amount, isCodex: isCodex)
        members.merge(ReportValue.coarse(amount)) { $1 }
        members.merge(ReportValue.imported(amount)) { $1 }
        if format.hasCosts {
            members[isCodex ? "costUSD" : "totalCost"] = .number(amount.cost.dollars(format.mode))
            members.merge(ReportValue.unpriced(amount, format.mode)) { $1 }
        }
        return members
    }

    private func counts(_ amount: UsageAmount, isCodex: Bool = false) -> [String: ReportValue] {
        let counts = amount.counts
        var members: [String: ReportValue] = [
            "inputTokens": .count(counts.input), "outputTokens": .count(counts.output),
            "cacheCreationTokens": .count(counts.cacheWrite),
            "cacheReadTokens": .count(counts.cacheRead), "totalTokens": .count(counts.total),
        ]
        if isCodex { members["reasoningOutputTokens"] = .count(counts.reasoning) }
        return members
    }
}
