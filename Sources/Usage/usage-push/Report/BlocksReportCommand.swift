import ArgumentParser
import Commands
import Essentials
import UsagePusher

struct BlocksReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blocks", abstract: "Add up tokens by the five hours in which Claude counts usage.",
        discussion: """
            A block begins with a request, at the full hour (UTC), and ends five hours later. It \
            is an estimate of the window whose limit the provider enforces, made from the times \
            of your requests on this machine only; 'usage-push sources' shows the provider's own \
            percentages.

            Blocks are of Claude's tokens, or with --provider of others'. Of the active block \
            there is the rate from its first to its last request, and what it comes to if that \
            stays. 'usage-push report --help' says what the numbers are.

            EXAMPLES
              usage-push report blocks --recent
              usage-push report blocks --active --token-limit max
            """)

    @Flag(name: .shortAndLong, help: "Only the active block.")
    var active = false

    @Flag(name: .shortAndLong, help: "Only blocks of the last three days, and the active one.")
    var recent = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Compare with this many tokens, or with 'max', the most of a finished block.", valueName: "tokens"))
    var tokenLimit: TokenLimit?

    @Option(name: [.customShort("n"), .long], help: ArgumentHelp("The hours of a block.", valueName: "hours"))
    var sessionLength = UsageBlocks.usualHours

    @OptionGroup var options: LogReportOptions

    func validate() throws {
        guard (1...168).contains(sessionLength) else {
            throw ValidationError("--session-length is a number of hours from 1 to 168.")
        }
    }

    func run() throws {
        var options = options
        if options.reading.provider.isEmpty { options.reading.provider = ["claude"] }
        let query = options.query
        let usage = ReportScan(reading: options.reading).run()
        var blocks = UsageBlocks(
            usage, hours: sessionLength, query: query, at: Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)))
        let limit = limit(blocks)
        if recent { blocks.keepRecent() }
        if active { blocks.keepActive() }
        let document = BlocksDocument(blocks: blocks, limit: limit, isActiveOnly: active, format: options.format)
        try options.shared.print(
            json: document.value, csv: document.csvLines,
            table: BlocksTable(
                blocks: blocks, limit: limit, format: options.format, clock: ReportClock(zone: query.zone)
            ).lines(width: Console.outputColumns, isCompact: options.shared.compact),
            isEmpty: blocks.blocks.isEmpty,
            emptyMessage: active && !usage.buckets.isEmpty ? "no active block" : LogReportOptions.emptyMessage,
            gaps: usage.gaps(of: query.providers),
            unpriced: ReportTable.remarks(
                blocks.total, blocks.unknownModels(options.shared.mode), options.format, width: .max))
    }

    private func limit(_ blocks: UsageBlocks) -> UsageBlocks.Limit? {
        switch tokenLimit {
        case .tokens(let tokens): UsageBlocks.Limit(tokens: tokens)
        case .largest: blocks.largest.map(UsageBlocks.Limit.init)
        case nil: nil
        }
    }
}

/// "500000" or "max".
enum TokenLimit: ExpressibleByArgument {
    case tokens(Int)
    case largest

    init?(argument: String) {
        if argument == "max" {
            self = .largest
        } else if let tokens = Int(argument), tokens > 0 {
            self = .tokens(tokens)
        } else {
            return nil
        }
    }
}
