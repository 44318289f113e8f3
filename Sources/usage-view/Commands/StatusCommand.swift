import ClockZones
import ArgumentParser
import Commands
import Essentials
import TerminalText
import UsageState

extension UsageView {
    struct StatusCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status", _superCommandName: "usage-view",
            abstract: "Print one line for a status bar or a prompt.",
            discussion: """
                Reads only this machine's replica, never the network, and prints "–" where there is \
                nothing to show. Shows the window that ends first; with --provider, all \
                windows of the named providers. A number that is old or an estimate is marked "~"; \
                after its reset none is shown. docs/status-lines.md says what to paste for each bar.

                FORMATS
                  tmux, waybar, polybar, i3bar, starship, plain, or a template: text with
                  {provider} {id} {account} {plan} {window} {percent} {used} {left} {measure}
                  {reset} {clock} {age} {pace} {level} {warning}; {{ and }} are braces

                EXAMPLES
                  usage-view status --format tmux
                  usage-view status --format waybar --follow
                  usage-view status --provider codex --left
                  usage-view status --format '{provider} {left}, {reset}'

                EXIT STATUS
                  0 printed, also where there is nothing · 64 usage error · 74 the output cannot be
                  written
                """)

        @Option(
            help: "The form of the line, see above.", completion: .list(StatusFormat.Name.allCases.map(\.rawValue)),
            transform: { try StatusFormat($0) })
        var format = StatusFormat.named(.plain)

        @OptionGroup var selected: SelectionOptions

        @Flag(help: "Show percentages used (default) or left.")
        var measure: ViewOptions.Measure = .used

        @Flag(help: "Show clock times instead of countdowns.")
        var absolute = false

        @Flag(help: "Keep running and print a line whenever it changes.")
        var follow = false

        @Option(help: ArgumentHelp("Maximum width in terminal cells.", valueName: "cells"))
        var maxWidth: Int?

        @Flag(help: "Show invented names of accounts and devices.")
        var redact = false

        @Flag(help: "Print JSON, described by docs/usage-report.schema.json.")
        var json = false

        @OptionGroup var store: StoreOption

        func validate() throws {
            if let maxWidth, !(1...1_000).contains(maxWidth) {
                throw ValidationError("--max-width must be between 1 and 1000 cells")
            }
            if json, follow { throw ValidationError("--json cannot be combined with --follow") }
            if follow, format == .named(.starship) {
                throw ValidationError("--follow is for bars; starship reads one line per prompt")
            }
        }

        func run() async throws {
            guard follow else { return try printing.print() }
            try await StatusFollower(renderer: printing.renderer, usage: printing.usage).run()
        }

        fileprivate var printing: StatusPrinting {
            StatusPrinting(
                format: format,
                choice: StatusChoice(measure: measure, isAbsolute: absolute, selection: selected.selection),
                maxWidth: maxWidth, isRedacted: redact, isJSON: json, storeName: store.name)
        }
    }
}

/// A single line of a status bar or a prompt.
struct StatusPrinting: Equatable {
    var format = StatusFormat.named(.plain)
    var choice = StatusChoice()
    var maxWidth: Int?
    var isRedacted = false
    var isJSON = false
    var storeName = StoreOption.defaultName

    func print() throws {
        let now = Date()
        let data = usage.read(now: now)
        if isJSON { return try Console.printJSON(renderer.report(data, now: now), isIndented: true) }
        try Console.print(renderer.line(data, now: now).text)
    }

    var usage: LocalUsage { LocalUsage(storeName: storeName, includesHistory: format.hasPace) }

    var renderer: StatusRenderer {
        let environment = ProcessInfo.processInfo.environment
        return StatusRenderer(
            format: format, choice: choice, maxWidth: maxWidth, isRedacted: isRedacted,
            isUnicode: ColorPolicy.isUnicode(environment: environment),
            isTwelveHour: ColorPolicy.isTwelveHour(environment: environment), zone: .local)
    }
}

extension StatusPrinting {
    /// What these arguments of the program print if it is a single line; nil for anything else, wrong usage included.
    init?(arguments: [String]) {
        guard arguments.first == UsageView.StatusCommand.configuration.commandName else { return nil }
        // The parser would take a quarter of the time.
        if arguments.count == 1 {
            self.init()
        } else if arguments.count == 3, arguments[1] == "--format", !arguments[2].hasPrefix("-"),
            let format = try? StatusFormat(arguments[2])  // The parser says why.
        {
            self.init(format: format)
        } else {
            // The general parser says what is wrong.
            let command = try? UsageView.StatusCommand.parseAsRoot(Array(arguments.dropFirst()))
            guard let command = command as? UsageView.StatusCommand, !command.follow else { return nil }
            self = command.printing
        }
    }
}
