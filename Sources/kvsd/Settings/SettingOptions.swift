import ArgumentParser
import Commands
import Essentials
import KVStoreServer
import LocalFiles

/// The settings as options; `--set` reaches those without an option of their own.
struct SettingOptions: ParsableArguments {
    @Option(help: .setting("listen")) var listen: String?
    @Flag(help: .setting("tls")) var tls = false
    @Option(help: .setting("tls-certificate")) var tlsCertificate: String?
    @Option(help: .setting("tls-key")) var tlsKey: String?
    @Flag(help: .setting("insecure-allow-plain-http")) var insecureAllowPlainHttp = false
    @Option(help: .setting("log-level")) var logLevel: String?
    @Option(help: .setting("memory-limit")) var memoryLimit: String?
    @Option(help: .setting("requests-per-second")) var requestsPerSecond: String?
    @Option(help: .setting("streams-per-device")) var streamsPerDevice: String?
    @Option(help: .setting("connections")) var connections: String?

    @Option(help: ArgumentHelp("Any setting that 'kvsd config' lists; repeatable.", valueName: "name=value"))
    var set: [String] = []

    @Option(
        help: ArgumentHelp(
            "JSON object of settings; by default config.json in the data directory, else "
                + "$XDG_CONFIG_HOME/ubiquity/kvsd.json.", valueName: "file"))
    var config: String?

    /// Names and values as they were given; the members that are named after a setting are its options.
    private var given: [(name: String, value: String)] {
        get throws {
            let options = Mirror(reflecting: self).children.compactMap { label, member -> (String, String)? in
                let name = (label ?? "").dropFirst().reduce(into: "") { name, character in
                    name += character.isUppercase ? "-" + character.lowercased() : String(character)
                }
                guard Setting.named(name) != nil else { return nil }
                return (member as? any SettingOption)?.text.map { (name, $0) }
            }
            return options
                + (try set.map { text in
                    let parts = text.split(separator: "=", maxSplits: 1)
                    guard parts.count == 2 else {
                        throw ValidationError("invalid --set '\(text)': use the form NAME=VALUE")
                    }
                    return (String(parts[0]), String(parts[1]))
                })
        }
    }

    /// Checks the options alone, before anything is read.
    func validate() throws {
        for text in set where text.hasPrefix("database=") { text.warnOfPassword() }
        do {
            var settings = EffectiveSettings()
            try settings.apply(try given, .option)
        } catch let error as CommandFailure {
            throw ValidationError(error.message)
        }
    }

    /// From options, environment, file and defaults, in this order.
    func effective(_ storage: StorageOption) throws -> EffectiveSettings {
        let settings = try EffectiveSettings.read(
            storage.directory, file: config, options: try given + storage.databaseSetting)
        try settings.checkEncryption()
        return settings
    }
}

extension EffectiveSettings {
    /// From options, environment, file and defaults, in this order.
    ///
    /// - Parameters:
    ///   - directory: whose config.json is read, or else that of the user.
    ///   - file: the path of another one.
    static func read(
        _ directory: DataDirectory, file: String? = nil, options: [(name: String, value: String)]
    ) throws -> EffectiveSettings {
        var settings = EffectiveSettings()
        if let file = try readFile(file, directory) {
            try settings.apply(file.values, .file(file.path))
        }
        let variables = ProcessInfo.processInfo.environment.filter { $0.key.hasPrefix("KVSD_") }
        try settings.apply(
            variables.sorted { $0.key < $1.key }.map { variable, value in
                (Setting.all.first { $0.variable == variable }?.name ?? variable, value)
            }, .environment)
        try settings.apply(options, .option)
        return settings
    }

    private static func readFile(
        _ chosen: String?, _ directory: DataDirectory
    ) throws -> (path: String, values: [(name: String, value: String)])? {
        let standard = [directory.path + "/config.json", UserDirectories().config + "/kvsd.json"]
        for path in chosen.map({ [absolutePath($0)] }) ?? standard {
            do {
                guard let content = try LocalFile(path).read(byteLimit: 65_536) else { continue }
                let values = try JSONDecoder().decode([String: SettingText].self, from: content.data)
                return (path, values.sorted { $0.key < $1.key }.map { ($0.key, $0.value.text) })
            } catch let error as FileError {
                throw CommandFailure(.configuration, error.description)
            } catch {
                throw CommandFailure(
                    .configuration, "\(path) is not a JSON object of settings, each a string, number or boolean")
            }
        }
        if let chosen {
            throw CommandFailure(.configuration, "cannot open \(chosen): no such file")
        }
        return nil
    }

    /// The address of the database with the data of a daemon; nil for a log in its directory, which must not have been
    /// moved to a database.
    func database(of directory: DataDirectory) throws -> String? {
        guard values.database.isEmpty else { return values.database }
        guard let move = try directory.moveFile.read() else { return nil }
        throw CommandFailure(
            .configuration,
            "the data of \(directory.path) has moved to the database \(move.database); use --database or the "
                + "setting 'database', move it back with 'kvsd migrate --from', or remove "
                + "\(directory.moveFile.path) to use the former data")
    }
}

/// The option of a setting.
private protocol SettingOption {
    /// As it was given; nil without it.
    var text: String? { get }
}

extension Option<String?>: SettingOption { fileprivate var text: String? { wrappedValue } }
extension Flag<Bool>: SettingOption { fileprivate var text: String? { wrappedValue ? "true" : nil } }

extension ArgumentHelp {
    fileprivate static func setting(_ name: String) -> ArgumentHelp {
        guard let setting = Setting.named(name) else { preconditionFailure("no setting \(name)") }
        let isPlain = setting.valueName.isEmpty || setting.standard.isEmpty
        return ArgumentHelp(
            "\(setting.help)\(isPlain ? "" : " (default: \(setting.standard))")",
            valueName: setting.valueName.isEmpty ? nil : setting.valueName)
    }
}

/// A JSON string, number or boolean as text.
private struct SettingText: Decodable {
    var text: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {  // another type is tried next
            text = "\(value)"
        } else if let value = try? container.decode(Int.self) {  // another type is tried next
            text = "\(value)"
        } else if let value = try? container.decode(Double.self) {  // another type is tried next
            text = "\(value)"
        } else {
            text = try container.decode(String.self)
        }
    }
}
