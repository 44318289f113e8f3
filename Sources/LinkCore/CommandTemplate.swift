/// The command of a user that opens links: a program and its arguments, in which `{id}` stands for the message id and
/// `{id_encoded}` for the id as it may stand in a URL. Executed without a shell.
package struct CommandTemplate: Equatable, Sendable {
    package let arguments: [String]

    private static let plain = "{id}"
    private static let encoded = "{id_encoded}"
    /// Of shells, interpreters and mail clients that are controlled by commands.
    private static let codeOptions = ["-c", "-e", "--eval", "--execute"]
    private static let argumentLimit = 64
    private static let byteLimit = 4_096

    package enum Flaw: Error, Equatable, Sendable {
        case empty
        case tooLong
        case controlCharacter
        /// A link would name the program.
        case programFromLink
        case noPlaceholder
        /// A link would be part of a script.
        case code(option: String)

        package var message: String {
            switch self {
            case .empty: "no program was given; write PROGRAM {id} after --"
            case .tooLong:
                "the command has more than \(argumentLimit) arguments or \(byteLimit) bytes; use a script"
            case .controlCharacter: "the command contains a control character"
            case .programFromLink: "the program itself must not contain {id} or {id_encoded}"
            case .noPlaceholder: "no argument contains {id} or {id_encoded}"
            case .code(let option):
                "the argument after \(option) would be executed with what a link contains; write a script "
                    + "that takes {id} as an argument of its own"
            }
        }
    }

    package init(_ arguments: [String]) throws(Flaw) {
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
        for (option, argument) in zip(arguments, arguments.dropFirst())
        where Self.codeOptions.contains(option) && Self.hasPlaceholder(argument) {
            throw .code(option: option)
        }
        self.arguments = arguments
    }

    private static func hasPlaceholder(_ argument: String) -> Bool {
        argument.contains(plain) || argument.contains(encoded)
    }

    func arguments(for link: AirmailLink) throws(LinkError) -> [String] {
        let id = try link.decodedID()
        let encodedID = try link.bareID()
        var result: [String] = []
        for template in arguments {
            // What an id contains is not a placeholder.
            let argument = template.split(separator: Self.encoded, omittingEmptySubsequences: false)
                .map { $0.replacing(Self.plain, with: id) }.joined(separator: encodedID)
            if argument.hasPrefix("-"), !template.hasPrefix("-"), !result.contains("--") {
                throw .invalidURLConstruction(.option)
            }
            if argument != template,
                argument.lowercased().utf8.starts(with: (AirmailLink.scheme + ":").utf8)
            {
                throw .invalidURLConstruction(.loop)
            }
            result.append(argument)
        }
        return result
    }
}
