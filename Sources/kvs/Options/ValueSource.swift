import ArgumentParser
import Foundation
import KVStore

/// Where `set` takes its value from and what it becomes.
struct ValueSource: ParsableArguments {
    enum Short: String, EnumerableFlag {
        case string, int, double, bool, date, data, json
    }

    @Argument(help: "The value; after -- where it starts with a dash.")
    var text: String?

    @Flag(help: "The value's type, in short.")
    var short: Short?

    @Option(
        name: .customLong("type"),
        help: "The value's type: string (the default), integer, double, bool, date or data.")
    var typeName: String?

    @Flag(name: .customLong("stdin"), help: "Take the value from standard input.")
    var isFromInput = false

    @Option(
        name: .customLong("data-file"), help: "Store the bytes of a file as data.",
        completion: .file())
    var file: String?

    private var types: [ValueType] {
        let named = typeName.flatMap(ValueType.init(rawValue:))
        let short: ValueType? =
            switch short {
            case .string: .string
            case .int: .integer
            case .double: .double
            case .bool: .bool
            case .date: .date
            case .data: .data
            case .json, nil: nil
            }
        return [named, short].compactMap { $0 }
    }

    mutating func validate() throws {
        if let typeName {
            let allowed: Set<ValueType> = [.string, .integer, .double, .bool, .date, .data]
            guard let type = ValueType(rawValue: typeName), allowed.contains(type) else {
                throw ValidationError(
                    "--type '\(typeName)' is not one of string, integer, double, bool, date, data; "
                        + "arrays and dictionaries are given with --json.")
            }
        }
        guard types.count + (short == .json ? 1 : 0) <= 1 else {
            throw ValidationError("Give the type once.")
        }
        guard file == nil || types.isEmpty || types == [.data], file == nil || short != .json else {
            throw ValidationError("--data-file stores data; leave the type out.")
        }
        let sources = (text == nil ? 0 : 1) + (isFromInput ? 1 : 0) + (file == nil ? 0 : 1)
        guard sources == 1 else {
            throw ValidationError(
                "Give the value as an argument, with --stdin or with --data-file.")
        }
    }

    func value(limits: StoreLimits) throws -> PropertyListValue {
        // A value in base64 or as JSON is longer than what is stored.
        let limit = limits.valueByteCount * 8
        if let file {
            return .data(try StandardStreams.readFile(file, byteCount: limit))
        }
        let type = types.first ?? .string
        if isFromInput {
            let bytes = try StandardStreams.readInput(byteCount: limit)
            return short == .json
                ? try PlainJSON.parse(bytes) : try ValueParsing.value(bytes, as: type)
        }
        let text = text ?? ""
        return short == .json
            ? try PlainJSON.parse(Data(text.utf8)) : try ValueParsing.value(text, as: type)
    }
}
