import TerminalText
import UsagePusher

/// Blocks as JSON with the members of ccusage's, and as CSV. Pure.
struct BlocksDocument {
    let blocks: UsageBlocks
    var limit: UsageBlocks.Limit?
    /// Whether only the active block was asked for.
    var isActiveOnly = false
    let format: ReportFormat

    var value: ReportValue {
        var members = ["blocks": ReportValue.list(blocks.blocks.map(block))]
        if isActiveOnly, blocks.blocks.isEmpty { members["message"] = .text("No active block") }
        return .object(members)
    }

    private func block(_ block: UsageBlocks.Block) -> ReportValue {
        let counts = block.total.counts
        let start = ReportClock.utc(block.start)
        let projection = block.projection(format.mode, at: blocks.now)
        var members: [String: ReportValue] = [
            "id": .text((block.isGap ? "gap-" : "") + start), "startTime": .text(start),
            "endTime": .text(ReportClock.utc(block.end)),
            "actualEndTime": block.isGap ? .null : .text(ReportClock.utc(block.last)),
            "isActive": .flag(block.isActive), "isGap": .flag(block.isGap),
            "entries": .count(block.total.requestCount),
            "tokenCounts": .object([
                "inputTokens": .count(counts.input), "outputTokens": .count(counts.output),
                "cacheCreationInputTokens": .count(counts.cacheWrite), "cacheReadInputTokens": .count(counts.cacheRead),
            ]),
            "totalTokens": .count(counts.total), "models": .texts(block.models.map(\.name)),
            "burnRate": block.rate(format.mode).map(rate) ?? .null,
            "projection": projection.map(self.projection) ?? .null,
        ]
        if format.hasCosts {
            members["costUSD"] = .number(block.total.cost.dollars(format.mode))
            members.merge(ReportValue.unpriced(block.total, format.mode)) { $1 }
        }
        members.merge(ReportValue.coarse(block.total)) { $1 }
        if let limit, let projection {
            members["tokenLimitStatus"] = .object([
                "limit": .count(limit.tokens), "projectedUsage": .count(projection.tokens),
                "percentUsed": .number(limit.percent(of: projection.tokens)),
                "status": .text(limit.status(of: projection.tokens).rawValue),
            ])
        }
        return .object(members)
    }

    private func rate(_ rate: UsageBlocks.Rate) -> ReportValue {
        var members: [String: ReportValue] = [
            "tokensPerMinute": .number(rate.tokens),
            "tokensPerMinuteForIndicator": .number(rate.uncachedTokens),
        ]
        if format.hasCosts { members["costPerHour"] = .number(rate.dollarsPerHour) }
        return .object(members)
    }

    private func projection(_ projection: UsageBlocks.Projection) -> ReportValue {
        var members: [String: ReportValue] = [
            "totalTokens": .count(projection.tokens),
            "remainingMinutes": .count(projection.minutes),
        ]
        if format.hasCosts { members["totalCost"] = .number(projection.dollars) }
        return .object(members)
    }

    /// A header, and a row for each block, gaps left out, or with `hasModelRows` for each model of it.
    var csvLines: [String] {
        let header =
            ["startTime", "endTime", "actualEndTime", "isActive"]
            + [format.hasModelRows ? "model" : "models"] + ReportCSV.amountNames(format)
        let rows = blocks.blocks.filter { !$0.isGap }.flatMap { block in
            ReportCSV.models(block.models, block.total, format).map { name, amount in
                [block.start, block.end, block.last].map(ReportClock.utc)
                    + [block.isActive ? "true" : "false", name] + ReportCSV.cells(amount, format)
            }
        }
        return ([header] + rows).map(CSVText.line)
    }
}
