import KVStoreEssentials
import KVStoreHTTP
import LocalFiles

/// What holds on this machine alone. No machine learns it from another one: it names a command.
struct DeviceSettings: Codable, Equatable, Sendable {
    /// Instead of the form that is chosen for all machines.
    var form: LinkForm?
    var command: [String]?
    /// The desktop entry that opened `airmail:` links before this program was installed for them.
    var formerHandler: String?

    private static var file: SettingsFile<DeviceSettings> {
        SettingsFile(StoreEnvironment().configDirectory + "/link.json", mustBeOwn: true)
    }

    /// Empty without a file.
    ///
    /// - Throws: for a file that somebody else could have written, because it names a command.
    static func read() throws(FileError) -> DeviceSettings { try file.read() ?? DeviceSettings() }

    static func update(_ change: (inout DeviceSettings) -> Void) throws(FileError) {
        try file.update(from: DeviceSettings(), change)
    }

    /// The command, if it is one.
    ///
    /// - Throws: for a command that was written into the file by hand and is none.
    func template() throws(FileError) -> CommandTemplate? {
        guard let command else { return nil }
        do throws(CommandTemplate.Flaw) {
            return try CommandTemplate(command)
        } catch {
            throw FileError(
                operation: "use the command in", path: Self.file.file.path, cause: .invalid(error.description))
        }
    }
}

/// The form that links are opened in, and who has chosen it.
struct ChosenForm: Sendable {
    enum Origin: String, Encodable, Sendable {
        case device, synced, standard = "default"
    }

    var form: LinkForm
    var origin: Origin

    /// Reads the synced form only if this machine has none of its own.
    init(_ settings: DeviceSettings, preferences: SyncedPreferences) throws(StoreError) {
        if let form = settings.form {
            (self.form, origin) = (form, .device)
            return
        }
        let stored = try preferences.texts(withPrefix: LinkForm.key)[LinkForm.key]
        form = LinkForm(stored: stored)
        origin = stored == form.rawValue ? .synced : .standard
    }
}
