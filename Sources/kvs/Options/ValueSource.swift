import ArgumentParser
import Foundation
import KVStore

/// The value of `set`: where it comes from and its type.
struct ValueSource: ParsableArguments {
    enum Shorthand: String, EnumerableFlag {
        case string, int, double, bool, date, data, json
    }

    /// What the text or bytes are parsed as.
    private enum Form: Equatable {
        case json
        case typed(ValueType)
    }

    @Argument(help: "The value; after -- if it starts with a dash.")
    var text: String?

    @Flag(help: "Shorthand for --type, or JSON.")
    var shorthand: Shorthand?

    @Option(
        name: .customLong("type"),
        help: "Type of the value: string (default), integer, double, bool, date or data.")
    var typeName: String?

    @Flag(name: .customLong("stdin"), help: "Read the value from standard input.")
    var isFromInput = false

    @Option(
        name: .customLong("data-file"), help: "Store the bytes of a file as data.",
        completion: .file())
    var file: String?

    private static let types: [ValueType] = [.string, .integer, .double, .bool, .date, .data]

    private var forms: [Form] {
        let short: Form? = shorthand.map { shorthand in
            switch shorthand {
            case .json: .json
            case .int: .typed(.integer)
            default: .typed(ValueType(rawValue: shorthand.rawValue) ?? .string)
            }
        }
        let named = typeName.flatMap(ValueType.init(rawValue:)).map(Form.typed)
        return [named, short].compactMap { $0 }
    }

    func validate() throws {
        if let typeName, !Self.types.map(\.rawValue).contains(typeName) {
            throw ValidationError(
                "invalid type '\(typeName)': use string, integer, double, bool, date or data, or "
                    + "--json for arrays and dictionaries")
        }
        guard forms.count <= 1 else { throw ValidationError("give the type only once") }
        guard file == nil || forms.allSatisfy({ $0 == .typed(.data) }) else {
            throw ValidationError("--data-file always stores data; omit the type")
        }
        guard [text != nil, isFromInput, file != nil].count(where: { $0 }) == 1 else {
            throw ValidationError(
                "give the value as an argument, with --stdin or with --data-file")
        }
    }

    func value(limits: StoreLimits) throws -> PropertyListValue {
        // Base64 and JSON are longer than the stored value.
        let limit = limits.valueByteCount * 8
        if let file { return .data(try InputOutput.readFile(file, byteCount: limit)) }
        let bytes = isFromInput ? try InputOutput.readInput(byteCount: limit) : nil
        switch (forms.first ?? .typed(.string), bytes) {
        case (.json, _): return try PlainJSON.parse(bytes ?? Data((text ?? "").utf8))
        case (.typed(let type), let bytes?): return try ValueParsing.value(bytes, as: type)
        case (.typed(let type), nil): return try ValueParsing.value(text ?? "", as: type)
        }
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
    private static let flags: Set<String> = [
        "--int", "--double", "--json", "--string", "--no-sync",
    ]
}
