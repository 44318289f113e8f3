import Essentials

/// The command of a user that opens links: a program and its arguments, in which `{id}` stands for the message id and
/// `{id_encoded}` for the id as it may stand in a URL. Executed without a shell.
struct CommandTemplate: Equatable, Sendable {
    let arguments: [String]

    private static let plain = "{id}"
    private static let encoded = "{id_encoded}"
    /// Options by which shells, interpreters and programs that start others take code. A value may follow after `=`; an
    /// option of one letter may share its word with others and with its value.
    private static let codeOptions: Set = [
        "-c", "-e", "--checkpoint-action", "--cmd", "--command", "--eval", "--exec", "--execute",
        "--expression", "--init-command", "--run", "--split-string", "--to-command",
        "--use-compress-program", "-exec", "-execdir", "-ok", "-okdir",
    ]
    private static let argumentLimit = 64
    private static let byteLimit = 4_096

    enum Flaw: ReportableError, Equatable {
        case empty
        case tooLong
        case controlCharacter
        /// A link would name the program.
        case programFromLink
        case noPlaceholder
        /// A link would be part of a script.
        case code(option: String)
        /// A link would be given to a program that may execute it.
        case interpreter(String)
        /// It is not certain which word is the program that this one starts.
        case wrapper(String)

        var exitStatus: ExitStatus { .usage }

        var description: String {
            switch self {
            case .empty: "no program was given; write PROGRAM {id} after --"
            case .tooLong: "the command has more than \(argumentLimit) arguments or \(byteLimit) bytes; use a script"
            case .controlCharacter: "the command contains a control character"
            case .programFromLink: "the program itself must not contain {id} or {id_encoded}"
            case .noPlaceholder: "no argument contains {id} or {id_encoded}"
            case .code(let option):
                "the argument after \(option) would be executed with what a link contains; write a script "
                    + "that takes {id} as an argument of its own"
            case .interpreter(let program):
                "\(program) may execute what a link contains; write an executable script that takes {id} as an "
                    + "argument, and name the script as the program"
            case .wrapper(let program):
                "it is not certain which program \(program) would start with {id}; put only options that "
                    + "every \(program) has before the program, or write a script"
            }
        }
    }

    init(_ arguments: [String]) throws(Flaw) {
        guard let program = arguments.first, !program.isEmpty else { throw .empty }
        guard arguments.count <= Self.argumentLimit,
            arguments.reduce(0, { $0 + $1.utf8.count }) <= Self.byteLimit
        else { throw .tooLong }
        guard
            !arguments.contains(where: { argument in
                argument.utf8.contains { $0 < 0x20 || $0 == 0x7F }
            })
        else { throw .controlCharacter }
        guard !Self.hasPlaceholder(program) else { throw .programFromLink }
        guard arguments.contains(where: Self.hasPlaceholder) else { throw .noPlaceholder }
        try Self.checkOptions(arguments)
        try Self.checkPrograms(arguments)
        self.arguments = arguments
    }

    private static func hasPlaceholder(_ argument: String) -> Bool {
        argument.contains(plain) || argument.contains(encoded)
    }

    private static func checkOptions(_ arguments: [String]) throws(Flaw) {
        for (index, argument) in arguments.enumerated() where hasPlaceholder(argument) {
            let option = argument.prefix { $0 != "=" && $0 != "{" }
            if codeOptions.contains(String(option)) || ["-c", "-e"].contains(option.prefix(2)) {
                throw .code(option: String(option))
            }
            // Editors and pagers execute the command after a plus sign.
            if option.hasPrefix("+") { throw .code(option: "+") }
            let former = arguments[max(0, index - 1)]
            if codeOptions.contains(former) || isCluster(former) { throw .code(option: former) }
        }
    }

    /// Such as `-lc`.
    private static func isCluster(_ word: String) -> Bool {
        (3...5).contains(word.utf8.count) && word.hasPrefix("-") && !word.hasPrefix("--")
            && word.dropFirst().allSatisfy { $0.isASCII && $0.isLetter }
            && ["c", "e"].contains(word.last)
    }

    /// Follows programs that start others to the one that gets the id.
    private static func checkPrograms(_ arguments: [String]) throws(Flaw) {
        let last = arguments.lastIndex(where: hasPlaceholder) ?? 0
        for word in arguments[..<last] where CommandProgram(word).executesAnywhere {
            throw .interpreter(CommandProgram(word).name)
        }
        var place = 0
        while true {
            guard !hasPlaceholder(arguments[place]) else { throw .programFromLink }
            let program = CommandProgram(arguments[place])
            if program.executes { throw .interpreter(program.name) }
            guard let wrapper = program.wrapper else { return }
            guard let next = wrapper.program(in: arguments[(place + 1)...]),
                !arguments[place..<next].contains(where: hasPlaceholder)
            else { throw .wrapper(program.name) }
            place = next
        }
    }

    func arguments(for link: AirmailLink) throws(LinkError) -> [String] {
        let id = try link.decodedID()
        let encodedID = try link.bareID()
        var result: [String] = []
        // Whether `--` is before it, with nothing but ids between.
        var isOperand = false
        for template in arguments {
            // What an id contains is not a placeholder.
            let argument = template.split(separator: Self.encoded, omittingEmptySubsequences: false)
                .map { $0.replacing(Self.plain, with: id) }.joined(separator: encodedID)
            isOperand = template == "--" || isOperand && Self.hasPlaceholder(template)
            if argument != template, argument.first != template.first, !isOperand,
                argument.hasPrefix("-") || argument.hasPrefix("+")
            {
                throw .invalidURLConstruction(.option)
            }
            if argument != template, argument.lowercased().utf8.starts(with: (AirmailLink.scheme + ":").utf8) {
                throw .invalidURLConstruction(.loop)
            }
            result.append(argument)
        }
        return result
    }
}
