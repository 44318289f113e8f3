import Essentials
import TerminalText
import UsagePusher

/// Blocks as a table, and below it where the active one is heading. Pure.
struct BlocksTable {
    let blocks: UsageBlocks
    var limit: UsageBlocks.Limit?
    let format: ReportFormat
    let clock: ReportClock

    func lines(width: Int?, isCompact: Bool = false) -> [StyledLine] {
        ReportTable.Layout(width: width, isCompact: isCompact).lines(width: width, table)
            + blocks.blocks.flatMap { forecast($0, width: width) }
            + ReportTable.remarks(blocks.total, blocks.unknownModels(format.mode), format, width: width)
            + ReportTable.dayNotes(blocks.total, width: width)
    }

    private func table(_ layout: ReportTable.Layout) -> TextTable {
        let isNarrow = layout == .narrow
        var columns: [TextTable.Column] = [.init("START"), .init("STATUS")]
        if !isNarrow { columns.append(.init("MODELS", isFlexible: true)) }
        let counts: [(String, (TokenCounts) -> Int)] = [
            ("INPUT", \.input), ("OUTPUT", \.output), ("CACHE CREATE", \.cacheWrite), ("CACHE READ", \.cacheRead),
        ]
        if layout == .full {
            columns += counts.map { .init($0.0, alignment: .trailing) }
        }
        columns.append(.init("TOTAL", alignment: .trailing))
        if limit != nil { columns.append(.init("LIMIT", alignment: .trailing)) }
        if format.hasCosts { columns.append(.init("COST", alignment: .trailing)) }
        var table = TextTable(columns: columns)
        func append(_ head: [String], _ models: String, _ amount: UsageAmount) {
            var cells = head
            if !isNarrow { cells.append(models) }
            if layout == .full {
                cells += counts.map { ReportText.count($0.1(amount.counts)) }
            }
            cells.append(ReportText.count(amount.counts.total))
            if let limit { cells.append(Self.percent(limit.percent(of: amount.counts.total))) }
            if format.hasCosts { cells.append(ReportText.cost(amount, format.mode)) }
            table.append(cells)
        }
        for block in blocks.blocks {
            let start = clock.minute(of: block.start)
            if block.isGap {
                table.append([start, status(block)])
                continue
            }
            append([start, status(block)], block.models.map(\.name).sorted().joined(separator: ", "), block.total)
            guard format.hasModelRows, !isNarrow else { continue }
            for model in block.models.byCost(format.mode) { append(["", ""], "└ " + model.name, model.amount) }
        }
        return table
    }

    /// "active, 1h 30m left", "gap 7h", "ended".
    private func status(_ block: UsageBlocks.Block) -> String {
        if block.isGap { return "gap " + DurationFormatter.countdown(to: date(block.end), from: date(block.start)) }
        guard block.isActive else { return "ended" }
        return "active, " + DurationFormatter.countdown(to: date(block.end), from: date(blocks.now)) + " left"
    }

    private func forecast(_ block: UsageBlocks.Block, width: Int?) -> [StyledLine] {
        guard let rate = block.rate(format.mode),
            let projection = block.projection(format.mode, at: blocks.now)
        else { return [] }
        let cost = format.hasCosts
        let more = block.total.cost.unknownCount(format.mode) > 0 ? "+" : ""
        var sentences = [
            "active block: \(Self.rounded(rate.tokens)) tokens a minute"
                + (cost ? ", \(ReportText.dollars(rate.dollarsPerHour))\(more) an hour" : ""),
            "if it goes on like that, by \(clock.minute(of: block.end).suffix(5)): "
                + "\(ReportText.count(projection.tokens)) tokens"
                + (cost ? ", \(ReportText.dollars(projection.dollars))\(more)" : ""),
        ]
        if let limit {
            let percent = Self.percent(limit.percent(of: projection.tokens))
            sentences.append(
                "that is \(percent) of the limit of \(ReportText.count(limit.tokens)) tokens"
                    + " (\(limit.status(of: projection.tokens).rawValue))")
        }
        return sentences.flatMap { ReportTable.lines($0, width: width) }
    }

    private func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }

    private static func percent(_ percent: Double) -> String {
        percent < 1_000_000 ? "\(Int(percent.rounded())) %" : ">999999 %"
    }

    private static func rounded(_ value: Double) -> String { ReportText.count(Int(exactly: value.rounded()) ?? .max) }
}
