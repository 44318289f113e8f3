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

            \(Setting.help)
            """)

    @Argument(help: "The setting.", completion: .list(Setting.all.map(\.name)))
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
        guard let name else { return try show(Setting.all, ClipSettings.read(preferences), DeviceSettings.read(files)) }
        guard let setting = Setting.all.first(where: { $0.name == name }) else {
            throw CommandFailure(
                .usage,
                "there is no setting '\(name)'; there are " + Setting.all.map(\.name).joined(separator: ", "))
        }
        guard value != nil || reset else {
            return try show([setting], ClipSettings.read(preferences), DeviceSettings.read(files))
        }
        try await change(setting, to: reset ? nil : value, preferences, files)
    }

    private func change(
        _ setting: Setting, to value: String?, _ preferences: SyncedPreferences, _ files: ClipFiles
    ) async throws {
        let invalid = CommandFailure(.usage, "'\(value ?? "")' is no value of \(setting.name): \(setting.values)")
        switch setting.place {
        case .synced(let key):
            var settings = ClipSettings()
            if let value, !settings.set(value, for: key) { throw invalid }
            try await SyncedPreferences.report(preferences.set(value, forKey: key.storedKey))
        case .device(_, let set):
            let text = value ?? setting.defaultText
            var isValid = true
            try DeviceSettings.update(files) { isValid = set(&$0, text) }
            guard isValid else { throw invalid }
        }
        guard setting.name == Setting.sizeName || setting.name == Setting.expiryName else { return }
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

    private func show(_ shown: [Setting], _ settings: ClipSettings, _ device: DeviceSettings) throws {
        if json {
            return try Console.printJSON(
                Dictionary(uniqueKeysWithValues: shown.map { ($0.name, $0.text(settings, device)) }),
                isIndented: true)
        }
        for setting in shown {
            try Console.print(setting.name.padded(toCells: 20) + VisibleText.escape(setting.text(settings, device)))
        }
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
