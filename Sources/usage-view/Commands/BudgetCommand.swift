import ArgumentParser
import ClockZones
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import LocalFiles
import TerminalText
import UsagePusher
import UsageState

struct BudgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "budget", abstract: "Set what to spend at most, and see what is spent of it on all machines.",
        discussion: """
            A budget is an amount of money or tokens per day, week or month, for all tools, one tool or one project. \
            Once it is set, every push shows it as a card of its own beside the tools' limits: in usage-view, on the \
            page, in check, status and metrics, and in alerts at 50, 75, 90 and 100 % and when it runs out early. \
            Nothing stops at a budget unless a rule says so: \
            usage-view gate set --provider budget --at 100 --then stop

            EXAMPLES
              usage-view budget set 50 --per month
              usage-view budget set 20 --per week --provider claude
              usage-view budget set 5M --tokens --per day --project owner/app --name app
              usage-view budget
              usage-view budget remove 1
            """,
        subcommands: [Status.self, Set.self, Remove.self], defaultSubcommand: Status.self)

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status", abstract: "List the budgets, what is spent of each, and the forecast.")

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup var reading: ReadingOptions

        func run() async throws {
            let (budgets, rules) = try await UsageReader.read(
                storeNamed: reading.store.name, within: reading.timeout
            ) {
                (Budget.all(in: $0.store.data(where: Budget.isKey)), $0.projects)
            }
            let pages = try await LedgerPages.read(within: reading.timeout)
            for issue in pages.issues { Console.report(issue) }
            let now = Date()
            let states = BudgetState.states(of: budgets, pages, rules, now: now)
            let names = ProjectNames(rules, keys: pages.projectKeys)
            if json {
                return try Console.printJSON(
                    states.enumerated().map { Listed($0, $1, names) }, isIndented: true)
            }
            if states.isEmpty { try Console.print("No budgets; to set one: usage-view budget set 50 --per month") }
            for (index, state) in states.enumerated() {
                let title = VisibleText.escape(BudgetCommand.title(of: state.budget, names))
                try Console.print(
                    "\(index + 1)  \(title): \(AmountFormatter.percent(state.usedPercent)), \(state.text)")
            }
        }

        private struct Listed: Encodable {
            var number: Int
            var title: String
            var budget: Budget
            var spent: Double
            var usedPercent: Double
            var forecast: Double?
            var usedDays: Int
            var unpricedRequests: Int
            var start: Date
            var end: Date

            init(_ index: Int, _ state: BudgetState, _ names: ProjectNames) {
                number = index + 1
                title = BudgetCommand.title(of: state.budget, names)
                budget = state.budget
                spent = state.spent
                usedPercent = state.usedPercent
                forecast = state.forecast
                usedDays = state.usedDayCount
                unpricedRequests = state.unpricedCount
                start = state.span.lowerBound
                end = state.span.upperBound
            }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Set a budget, or change the amount of one.",
            discussion: """
                One of the same tool, project and period is replaced. The title of a budget is shown on all machines: \
                --name says what it is, else the tool, and of a project six digits of its key.
                """)

        @Argument(help: "Dollars, such as 50 or 12.50; with --tokens a count, such as 200k, 5M or 1G.")
        var amount: String

        @Flag(help: "The amount is in tokens.")
        var tokens = false

        @Option(help: "day, week (from Monday on) or month.")
        var per: Budget.Period

        @Option(help: ArgumentHelp("Only this tool.", valueName: "id"))
        var provider: String?

        @Option(help: ArgumentHelp("Only this project, as 'usage-view report project' names it.", valueName: "name"))
        var project: String?

        @Option(help: "What to call it on all machines.")
        var name: String?

        @Option(
            name: [.customLong("tz"), .customLong("timezone")],
            help: ArgumentHelp(
                "The time zone whose days these are, such as Europe/Berlin; else that of each machine.",
                valueName: "name"))
        var zone: String?

        @OptionGroup var store: StoreOption

        func validate() throws {
            _ = try budget()
            if let provider { try ReportOptions.requireKnown(provider) }
            if let zone { _ = try ReportOptions.zone(zone) }
        }

        func run() async throws {
            var budget = try budget()
            if let project { budget.project = try await key(ofProject: project) }
            let delivery = try await UsageReader.change(storeNamed: store.name) { values in
                let others = Budget.all(in: values).filter { !$0.hasSameScope(as: budget) }
                guard others.count < Budget.countLimit else {
                    throw CommandFailure(.configuration, "no more than \(Budget.countLimit) budgets can be set")
                }
                return (budget.storeKey, budget.data)
            }
            try Console.print("set: \(VisibleText.escape(budget.text))\(delivery); the next push shows it")
        }

        private func budget() throws -> Budget {
            guard let amount = Self.number(amount, suffixes: tokens) else {
                throw ValidationError("'\(amount)' is no amount: write 50 or 12.50, or with --tokens 200k, 5M or 1G")
            }
            var budget = Budget(amount, tokens ? .tokens : .dollars, per: per)
            (budget.provider, budget.name, budget.zone) = (provider, name, zone)
            guard budget.isValid else {
                throw ValidationError(
                    "the amount must be $0.01 to 1000000000, or 1 to 1000000G tokens, and a name one line of at most "
                        + "80 bytes")
            }
            return budget
        }

        private static func number(_ text: String, suffixes: Bool) -> Double? {
            var text = Substring(text)
            if !suffixes, text.first == "$" { text.removeFirst() }
            var factor = 1.0
            if suffixes, let unit = ["k": 1e3, "M": 1e6, "G": 1e9][text.last.map(String.init) ?? ""] {
                factor = unit
                text.removeLast()
            }
            guard text.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "." }) else { return nil }
            return Double(text).map { $0 * factor }
        }

        private func key(ofProject name: String) async throws -> String {
            let rules = try await UsageReader.read(storeNamed: store.name, within: 2, \.projects)
            let keys = try await LedgerPages.read(within: 2).projectKeys
            let names = ProjectNames(rules, keys: keys)
            // One of this machine may have no past usage yet.
            let found = try names.hashes(ofProject: name, among: keys.union(names.knownHashes))
            return rules.target(of: found.first ?? name)
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove a budget by its number in 'budget status'.")

        @Argument(help: "The number of the budget.")
        var number: Int

        @OptionGroup var store: StoreOption

        func run() async throws {
            var removed: Budget?
            let delivery = try await UsageReader.change(storeNamed: store.name) { values in
                let budgets = Budget.all(in: values)
                guard budgets.indices.contains(number - 1) else {
                    throw CommandFailure(.usage, "there is no budget \(number); see usage-view budget")
                }
                removed = budgets[number - 1]
                return (budgets[number - 1].storeKey, nil)
            }
            try Console.print("removed: \(VisibleText.escape(removed?.text ?? ""))\(delivery)")
        }
    }

    /// Its project by the name that is known here.
    private static func title(of budget: Budget, _ names: ProjectNames) -> String {
        guard budget.name == nil, let project = budget.project else { return budget.title }
        return [budget.provider, names.name(ofKey: project)].compactMap { $0 }.joined(separator: ", ")
    }
}

extension Budget.Period: ExpressibleByArgument {}
