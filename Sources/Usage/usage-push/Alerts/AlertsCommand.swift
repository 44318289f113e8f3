import ClockZones
import Essentials
import ArgumentParser
import Commands
import KVStoreEssentials
import KVStoreHTTP
import LocalFiles
import SnapshotModels
import TerminalText
import UsagePusher
import UsageState

struct AlertsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alerts",
        abstract: "Show and change when you are warned, and how.",
        discussion: """
            A running 'usage-push --watch', and so the service, warns when a limit passes 50, 75 or \
            90 %, is reached, is available again, will run out before its reset, or when another \
            machine has not pushed for an hour. Changes made here take effect at once. Of several \
            machines that warn, one does. See docs/alerts.md.

            EXAMPLES
              usage-push alerts enable desktop
              usage-push alerts enable command ~/bin/warn limits
              usage-push alerts secret ntfy-topic < file
              usage-push alerts enable ntfy
              usage-push alerts set --quiet-hours 22:00-07:30 --thresholds 80,95
              usage-push alerts set --for claude/weekly --thresholds 60,90
              usage-push alerts test                     send one alert to each target
            """,
        subcommands: [Show.self, Enable.self, Disable.self, Set.self, Secret.self, Test.self],
        defaultSubcommand: Show.self)

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "List rules, targets and the last alerts.")

        @Flag(help: "Print JSON.")
        var json = false

        func run() throws {
            let settings = try AlertsCommand.readSettings()
            let secrets = AlertsCommand.secretsOrReport()
            let file = AlertJournalFile(ReadingOptions.ownEnvironment)
            var entries: [AlertJournal.Entry] = []
            do throws(FileError) {
                entries = try file.read()?.entries ?? []
                if let test = try AlertTestFile(ReadingOptions.ownEnvironment).read() { entries.append(test) }
            } catch {
                Console.report(error.description)
            }
            let report = AlertsReport(settings, secrets, entries.sorted { $0.at < $1.at })
            if json { return try Console.printJSON(report, isIndented: true) }
            for line in report.lines(now: Date()) { try Console.print(line) }
        }
    }

    struct Secret: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "secret",
            abstract: "Set a secret of a target.",
            discussion: """
                The value is read from standard input, so that it is in no list of processes and no \
                history; an empty one removes it. It is kept in alert-secrets.json of the \
                configuration directory, mode 0600, and never in the store.

                EXAMPLES
                  usage-push alerts secret webhook-url < file
                  printf 'X-Key: value' | usage-push alerts secret webhook-headers
                """)

        @Argument(
            help: ArgumentHelp(
                "\(AlertSecrets.Name.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "name"))
        var name: AlertSecrets.Name

        private static let byteLimit = 16_384

        func run() throws {
            if Console.isInputTerminal { Console.note("\(name.rawValue): ", terminator: "") }
            let data =
                Console.isInputTerminal
                ? Data((readLine() ?? "").utf8)
                : InputRelay.read(upTo: Self.byteLimit + 1)
            guard data.count <= Self.byteLimit, let text = String(data: data, encoding: .utf8)
            else { throw CommandFailure(.dataError, "\(name.rawValue) is too long or no text") }
            let value = text.trimmed()
            if !value.isEmpty, let issue = AlertSecrets.issue(value, of: name) {
                throw CommandFailure(.dataError, "cannot use this as \(name.rawValue): \(issue)")
            }
            try write(value)
            try Console.print(value.isEmpty ? "removed \(name.rawValue)" : "set \(name.rawValue)")
        }

        private func write(_ value: String) throws {
            let file = AlertSecretsFile()
            let lock = try CommandFailure.ending(.cannotCreate, file.lock)
            try withExtendedLifetime(lock) {
                var secrets = try AlertsCommand.readSecrets()
                secrets[name] = value.isEmpty ? nil : value
                try CommandFailure.ending(.cannotCreate) { () throws(FileError) in try file.write(secrets) }
            }
        }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test",
            abstract: "Send one alert to each target, and say what happened.",
            discussion: "Exits 0 if every target took it, else 69.")

        func run() async throws {
            let settings = try AlertsCommand.readSettings()
            guard settings.isConfigured else {
                throw CommandFailure(.noInput, "no target is enabled; run usage-push alerts enable desktop")
            }
            let targets = AlertTargets(
                settings, try AlertsCommand.readSecrets(), variables: ProcessInfo.processInfo.environment)
            let now = Date()
            let alert = Alert.test(at: now)
            let text = AlertText(alert, now: now, zone: .local)
            let outcomes = await targets.deliver(alert, text)
            do {
                try AlertTestFile(ReadingOptions.ownEnvironment)
                    .write(.init(at: now, title: text.title, message: text.message, outcomes: outcomes))
            } catch {
                Console.report("this test is not listed later: \(error)")
            }
            for outcome in outcomes {
                let result = outcome.failure.map { "failed: " + VisibleText.escape($0) } ?? "sent"
                try Console.print("\(outcome.target.rawValue)  \(result)")
            }
            if outcomes.contains(where: { $0.failure != nil }) { throw ExitCode(ExitStatus.unavailable.rawValue) }
        }
    }

    static func readSettings() throws(CommandFailure) -> AlertSettings {
        try CommandFailure.ending(.configuration, PusherConfigurationFile().readAlerts)
    }

    /// Returns whether `change` has changed something.
    @discardableResult
    static func changeSettings(_ change: (inout AlertSettings) throws -> Void) throws -> Bool {
        let file = PusherConfigurationFile()
        return try file.locked {
            let former = try readSettings()
            var settings = former
            try change(&settings)
            guard settings != former else { return false }
            try CommandFailure.ending(.cannotCreate) { () throws(FileError) in try file.writeAlerts(settings) }
            return true
        }
    }

    /// The names of windows by provider, as all machines have reported them last; none where the store cannot be read.
    static func reportedWindows() -> [String: [String]] {
        let environment = StoreEnvironment()
        do throws(StoreError) {
            let reading = try ReplicaReading(
                directory: environment.replicaDirectory(
                    storeNamed: StoreConfiguration.defaultStoreName, credentials: try environment.credentials())
            ) { UsageData.isKey($0) }
            let now = Date()
            let model = ViewModel(
                data: UsageData(link: .notJoined, values: reading.values, now: now), now: now, zone: .local)
            return Dictionary(
                model.providers.map { ($0.snapshot.providerID, $0.windows.flatMap(\.label.names)) },
                uniquingKeysWith: +)
        } catch {
            return [:]
        }
    }

    static func readSecrets() throws(CommandFailure) -> AlertSecrets {
        try CommandFailure.ending(.configuration, AlertSecretsFile().read)
    }

    private static func secretsOrReport() -> AlertSecrets {
        do throws(CommandFailure) {
            return try readSecrets()
        } catch {
            Console.report(error.message)
            return AlertSecrets()
        }
    }
}

extension AlertSecrets.Name: ExpressibleByArgument {}
extension AlertTargetKind: ExpressibleByArgument {}
