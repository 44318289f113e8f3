import ArgumentParser
import Commands
import Essentials
import KVStoreHTTP
import TerminalText

struct SettingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Show the settings, or change one.",
        discussion: """
            Those of the first table hold for all machines of your account, those of the second for this \
            one. Rules for texts that are not kept have a command of their own: \(ProgramName.text) rules.

            ALL MACHINES
            \(ClipSettings.table.map { $0.help(ClipSettings()) }.joined(separator: "\n"))

            OF THIS MACHINE ALONE
            \(DeviceSettings.table.map { $0.help(DeviceSettings()) }.joined(separator: "\n"))
            """)

    private static var names: [String] { ClipSettings.table.map(\.name) + DeviceSettings.table.map(\.name) }

    @Argument(help: "The setting.", completion: .list(names))
    var name: String?

    @Argument(help: "Its new value; without one it is shown.")
    var value: String?

    @Flag(help: "Take the default again.")
    var reset = false

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() async throws {
        let files = ClipFiles()
        let preferences = SyncedPreferences(environment: files.environment)
        if let name {
            guard Self.names.contains(name) else {
                throw CommandFailure(
                    .usage, "there is no setting '\(name)'; there are " + Self.names.joined(separator: ", "))
            }
            if value != nil || reset { return try await change(name, to: reset ? nil : value, preferences, files) }
        }
        let (settings, device) = (try ClipSettings.read(preferences), try DeviceSettings.read(files))
        let texts =
            ClipSettings.table.map { ($0.name, $0.text(settings)) }
            + DeviceSettings.table.map { ($0.name, $0.text(device)) }
        let shown = texts.filter { name == nil || $0.0 == name }
        if json { return try Console.printJSON(Dictionary(uniqueKeysWithValues: shown), isIndented: true) }
        for (name, text) in shown { try Console.print(name.padded(toCells: 20) + VisibleText.escape(text)) }
    }

    private func change(
        _ name: String, to value: String?, _ preferences: SyncedPreferences, _ files: ClipFiles
    ) async throws {
        func check(_ isValid: Bool, _ values: String) throws {
            if !isValid { throw CommandFailure(.usage, "'\(value ?? "")' is no value of \(name): \(values)") }
        }
        if let setting = ClipSettings.table.first(where: { $0.name == name }) {
            var settings = ClipSettings()
            if let value { try check(setting.take(&settings, value), setting.values) }
            try await SyncedPreferences.report(preferences.set(value, forKey: ClipSettings.prefix + name))
        } else if let setting = DeviceSettings.table.first(where: { $0.name == name }) {
            var isValid = true
            let text = value ?? setting.text(DeviceSettings())
            try DeviceSettings.update(files) { isValid = setting.take(&$0, text) }
            try check(isValid, setting.values)
        }
        guard ["historySize", "expire"].contains(name) else { return }
        // Takes effect at once.
        let opened = try OpenedHistory()
        defer { opened.close() }
        try opened.store.change(opened.settings.limits) { history, _ in
            var changes = history.expire(opened.settings.expiry, at: .now)
            changes.formUnion(history.trim())
            return (changes, ())
        }
        try await opened.exchange.afterChange()
    }
}

extension SyncedPreferences {
    /// Says how far a change has come, if it is not everywhere.
    static func report(_ outcome: Outcome) {
        if case .pending(let reason) = outcome {
            Console.report("stored on this machine, not yet synced: \(reason)")
        }
    }
}
