import ArgumentParser
import Commands
import Essentials
import LocalFiles
import TerminalText

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import the history of another clipboard manager.",
        discussion: """
            Secrets are skipped as they are when they are copied, and the limits of the history hold. Pins stay pins. \
            Importing the same again has no effect. The other history is only read.
            """)

    @Argument(help: "The clipboard manager.")
    var tool: ImportTool

    @Argument(help: "The file with its history; by default the one where the tool keeps it.")
    var path: String?

    @Flag(help: "Print what would be imported, without importing it.")
    var dryRun = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        let path = try path ?? tool.usualPath()
        let imported = try tool.read(path)
        let written = try FileStatus(path: path)?.modified ?? 0
        let opened = try OpenedHistory()
        defer { opened.close() }
        var progress = ImportProgress()
        let summary = try HistoryImport(recorder: opened.recorder).add(
            imported, writtenAt: Timestamp(milliseconds: written / 1_000_000), isDryRun: dryRun
        ) { progress.show($0) }
        progress.erase()
        try report(summary)
        if !dryRun { try await opened.exchange.afterChange() }
    }

    private func report(_ summary: HistoryImport.Summary) throws {
        if json { return try Console.printJSON(summary) }
        var lines = ["Read \(summary.read) items of \(tool.rawValue)."]
        let verb = dryRun ? "To add" : "Added"
        lines.append("\(verb): \(summary.added), already there: \(summary.alreadyThere).")
        if summary.leftOut > 0 {
            lines.append("Left out, as they are older than what the history holds: \(summary.leftOut).")
        }
        if summary.notFitting > 0 {
            lines.append("Left out, as pins leave no room: \(summary.notFitting).")
        }
        if summary.removed > 0 {
            let verb = dryRun ? "To remove" : "Removed"
            lines.append("\(verb) from the history for newer ones: \(summary.removed).")
        }
        for (reason, count) in summary.skipped.sorted(by: { $0.key < $1.key }) {
            lines.append("Skipped \(count): \(VisibleText.escape(reason)).")
        }
        try Console.print(lines.joined(separator: "\n"))
    }
}

/// A percentage on standard error, where that is a terminal, after the first half second.
private struct ImportProgress {
    private let start = ContinuousClock.now
    private var last = ContinuousClock.now
    private var isDrawn = false
    private static let isShown = Console.isErrorTerminal && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    mutating func show(_ share: Double) {
        guard Self.isShown, case let now = ContinuousClock.now, now - start > .milliseconds(500),
            now - last > .milliseconds(100)
        else { return }
        (last, isDrawn) = (now, true)
        Console.note("\rimporting: \(Int(share * 100)) %\u{1B}[K", terminator: "")
    }

    func erase() {
        if isDrawn { Console.note("\r\u{1B}[K", terminator: "") }
    }
}
