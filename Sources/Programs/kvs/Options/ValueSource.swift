import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials

/// What the text or bytes of a value are parsed as.
enum ValueForm: String, EnumerableFlag {
    case string, integer, double, bool, date, data, json

    static func name(for form: ValueForm) -> NameSpecification {
        .customLong(form == .integer ? "int" : form.rawValue)
    }
}

/// The value of `set`: where it comes from and its type.
struct ValueSource: ParsableArguments {
    @Argument(help: "The value; after -- if it starts with a dash.")
    var text: String?

    @Flag(help: "Shorthand for --type, or JSON.")
    var shorthand: ValueForm?

    @Option(
        name: .customLong("type"),
        help: "Type of the value: string (default), integer, double, bool, date or data.")
    var typeName: String?

    @Flag(name: .customLong("stdin"), help: "Read the value from standard input.")
    var isFromInput = false

    @Option(name: .customLong("data-file"), help: "Store the bytes of a file as data.", completion: .file())
    var file: String?

    private var forms: [ValueForm] { [typeName.flatMap(ValueForm.init(rawValue:)), shorthand].compactMap { $0 } }

    func validate() throws {
        if let typeName, [nil, .json].contains(ValueForm(rawValue: typeName)) {
            throw ValidationError(
                "invalid type '\(typeName)': use string, integer, double, bool, date or data, or "
                    + "--json for arrays and dictionaries")
        }
        guard forms.count <= 1 else { throw ValidationError("give the type only once") }
        guard file == nil || forms.allSatisfy({ $0 == .data }) else {
            throw ValidationError("--data-file always stores data; omit the type")
        }
        guard [text != nil, isFromInput, file != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("give the value as an argument, with --stdin or with --data-file")
        }
    }

    func value(limits: StoreLimits) throws -> PropertyListValue {
        // Base64 and JSON are longer than the stored value.
        let limit = limits.valueByteCount * 8
        if let file { return .data(try InputOutput.readFile(file, byteCount: limit)) }
        let form = forms.first ?? .string
        return isFromInput
            ? try ValueParsing.value(InputOutput.readInput(byteCount: limit), as: form)
            : try ValueParsing.value(text ?? "", as: form)
    }
}

/// Lets `kvs set KEY -5 --int` store a number, although the parser takes every leading dash for an option.
enum NegativeNumbers {
    /// The arguments of `set` with a negative number moved to the end, after `--`; all others unchanged.
    static func arranged(_ arguments: [String]) -> [String] {
        guard arguments.first == "set", !arguments.contains("--"),
            let index = arguments.lastIndex(where: { $0.hasPrefix("-") && Double($0) != nil }),
            !arguments[index - 1].hasPrefix("--") || flags.contains(arguments[index - 1])
        else { return arguments }
        var result = arguments
        result.append(contentsOf: ["--", result.remove(at: index)])
        return result
    }

    /// Options without a value, so that the next argument can be the value to store.
    private static let flags: Set<String> = ["--int", "--double", "--json", "--string", "--no-sync"]
}
