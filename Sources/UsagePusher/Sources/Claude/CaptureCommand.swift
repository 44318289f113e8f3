/// The status line command that saves the limits and then runs the user's own command:
///
///     usage-push claude-statusline -- '<own command>'
///
/// The own command is one word in single quotes, which the capture passes to the shell: whatever
/// its content, it runs as it did before.
struct CaptureCommand: Sendable, Equatable {
    enum Form: Sendable, Equatable {
        /// Some other command.
        case none
        case capture(CaptureCommand)
        /// A capture in a command that this type does not write, such as a pipeline.
        case custom
    }

    private var leadingSpaces: [UInt8] = []
    /// The first word, quoted for the shell where it needs to be.
    var program: WrittenString
    /// The user's command as it was written; nil without one.
    var own: WrittenString?

    private static let name = "usage-push"
    private static let subcommand = "claude-statusline"

    static func form(of command: WrittenString) -> Form {
        var words = ShellWords(command)
        guard let program = words.next(),
            program.text.split(separator: "/").last == Substring(name),
            words.next()?.text == subcommand
        else {
            let text = command.units.map { $0.ascii ?? 0x7F }
            let mentions = String(decoding: text, as: UTF8.self)
            return mentions.contains(name) && mentions.contains(subcommand) ? .custom : .none
        }
        var capture = CaptureCommand(program: program.written)
        capture.leadingSpaces = command.units.prefix { $0.ascii == UInt8(ascii: " ") }.flatMap(\.written)
        guard let separator = words.next() else { return .capture(capture) }
        guard separator.text == "--" else { return .custom }
        let rest = words.rest
        if rest.units.isEmpty { return .capture(capture) }
        capture.own = unquoted(rest) ?? rest
        return .capture(capture)
    }

    /// As it is written between the quotation marks of a JSON string.
    var written: [UInt8] {
        writtenPrefix + Array(" \(Self.subcommand)".utf8) + (own.map { Array(" -- ".utf8) + Self.quoted($0) } ?? [])
    }

    /// The first word with the spaces in front of it.
    var writtenPrefix: [UInt8] { leadingSpaces + program.written }

    /// For a program as a shell would find it: a name or a path.
    init(program: String, own: WrittenString? = nil) {
        self.init(program: WrittenString(escaping: ShellWords.quote(program)), own: own)
    }

    private init(program: WrittenString, own: WrittenString? = nil) {
        self.program = program
        self.own = own
    }

    private static let quote = UInt8(ascii: "'")

    /// Each quotation mark inside becomes '\'', where the third character keeps its written form.
    private static func quoted(_ text: WrittenString) -> [UInt8] {
        let units = text.units.flatMap { unit in
            unit.ascii == quote ? Array(#"'\\"#.utf8) + unit.written + [quote] : Array(unit.written)
        }
        return [quote] + units + [quote]
    }

    /// The inverse of `quoted`; nil for any other text.
    private static func unquoted(_ text: WrittenString) -> WrittenString? {
        guard text.units.count >= 2, text.units.first?.ascii == quote,
            text.units.last?.ascii == quote
        else { return nil }
        var rest = text.units.dropFirst().dropLast()
        var units: [WrittenString.Unit] = []
        while let unit = rest.first {
            if unit.ascii != quote {
                units.append(unit)
                rest = rest.dropFirst()
                continue
            }
            let escape = Array(rest.prefix(4))
            guard escape.map(\.ascii) == [quote, UInt8(ascii: "\\"), quote, quote] else { return nil }
            units.append(escape[2])
            rest = rest.dropFirst(4)
        }
        return WrittenString(units: units[...])
    }
}
