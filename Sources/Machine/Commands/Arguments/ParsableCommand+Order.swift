package import ArgumentParser

extension ParsableCommand {
    /// The arguments with the names of subcommands first, so that options may stand before them too.
    ///
    /// Options that stand before a name go to the command that it names. Nothing after `--` is moved.
    package static func subcommandsFirst(_ arguments: [String]) -> [String] {
        let options = arguments.prefix { $0 != "--" }
        let isVersion = options.contains("--version") || options.contains("--help")
        guard !isVersion, let first = options.first,
            let place = first.hasPrefix("-") ? options.firstIndex(where: { subcommand($0) != nil }) : 0,
            let command = subcommand(options[place])
        else { return arguments }
        var rest = arguments
        rest.remove(at: place)
        return [options[place]] + command.subcommandsFirst(rest)
    }

    private static func subcommand(_ name: String) -> (any ParsableCommand.Type)? {
        configuration.subcommands.first { $0._commandName == name }
    }
}
