import Essentials
import KVStoreEssentials
import KVStoreHTTP
import LinkCore
import LocalFiles
import StoreCommands

/// What holds on this machine alone. No machine learns it from another one: it names a command.
struct DeviceSettings: Codable, Equatable, Sendable {
    /// Instead of the form that is chosen for all machines.
    var form: LinkForm?
    var command: [String]?
    /// The desktop entry that opened `airmail:` links before this program was installed for them.
    var formerHandler: String?

    private static let byteLimit = 64 * 1_024

    static func file(_ environment: StoreEnvironment = StoreEnvironment()) -> LocalFile {
        LocalFile(environment.configDirectory + "/link.json")
    }

    /// Empty without a file.
    ///
    /// - Throws: for a file that somebody else could have written, because it names a command.
    static func read(_ file: LocalFile = file()) throws(FileError) -> DeviceSettings {
        guard let content = try file.read(byteLimit: byteLimit) else { return DeviceSettings() }
        func invalid(_ reason: String) -> FileError {
            FileError(operation: "read", path: file.path, cause: .invalid(reason))
        }
        guard content.status.permissions & 0o022 == 0,
            [0, geteuid()].contains(content.status.owner)
        else { throw invalid("others may write it; run chmod 600 \(file.path)") }
        guard let settings = try? JSONDecoder().decode(Self.self, from: content.data) else {
            throw invalid("these are not settings of this program; correct or remove the file")
        }
        return settings
    }

    /// Reads, changes and writes them under a lock.
    static func update(_ change: (inout DeviceSettings) -> Void) throws(FileError) {
        let file = file()
        let lock = try file.lock()
        defer { lock.unlock() }
        var settings = try read(file)
        let former = settings
        change(&settings)
        guard settings != former else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(settings) else { return }
        try file.resolvingLinks().replace(with: data + Data("\n".utf8))
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
                operation: "use the command in", path: Self.file().path,
                cause: .invalid(error.message))
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
    init(
        _ settings: DeviceSettings, preferences: SyncedPreferences
    ) throws(StoreError) {
        if let form = settings.form {
            (self.form, origin) = (form, .device)
            return
        }
        let stored = try preferences.texts(withPrefix: LinkForm.key)[LinkForm.key]
        form = LinkForm(stored: stored)
        origin = stored == form.rawValue ? .synced : .standard
    }
}
