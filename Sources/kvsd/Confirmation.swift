import CommandSupport

extension Console {
    /// Asks whether to do it; throws a usage error where nobody can be asked.
    ///
    /// - Parameter verb: what is asked for, such as "repair".
    static func confirm(_ verb: String) throws(CommandFailure) -> Bool {
        guard isInputTerminal else {
            throw CommandFailure(.usage, "nothing was changed; add --yes to \(verb)")
        }
        note("\(verb.prefix(1).uppercased() + verb.dropFirst())? [y/N] ", terminator: "")
        return ["y", "yes"].contains(readLine()?.lowercased())
    }
}
