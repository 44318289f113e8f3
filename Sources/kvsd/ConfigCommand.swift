import ArgumentParser
import Commands
import Essentials
import TerminalText

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show every setting with its value and where the value comes from.",
        discussion: """
            Options win over variables of the environment, and these over the file. The file is a JSON \
            object; a variable is named after the setting:

              kvsd config
              kvsd config --set idle-milliseconds=60000
              KVSD_IDLE_MILLISECONDS=60000 kvsd serve
              echo '{"listen": "0.0.0.0", "memory-limit": 2147483648}' > ~/.config/ubiquity/kvsd.json

            An unknown name or an invalid value is an error, with exit status 78; 64 for options.
            """)

    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var options: SettingOptions
    @OptionGroup var storage: StorageOption

    /// Fields are added, never renamed or removed.
    private struct Line: Encodable {
        var name: String
        var value: String
        var origin: String
        var standard: String
        var requirement: String

        enum CodingKeys: String, CodingKey {
            case name, value, origin, requirement
            case standard = "default"
        }
    }

    func run() throws {
        let settings = try options.effective(storage)
        let lines = Setting.all.map { setting in
            Line(
                name: setting.name, value: setting.text(settings.values),
                origin: settings.origin(of: setting).text(setting), standard: setting.standard,
                requirement: setting.requirement)
        }
        if json { return try Console.printJSON(lines) }
        let titles = ["SETTING", "VALUE", "ORIGIN"]
        var table = TextTable(columns: titles.map { TextTable.Column($0) })
        for line in lines {
            table.append([
                line.name, VisibleText.escape(line.value), VisibleText.escape(line.origin),
            ])
        }
        for line in table.lines() { try Console.print(line) }
    }
}
