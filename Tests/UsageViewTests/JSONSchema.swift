import Foundation

/// What of JSON Schema 2020-12 the schema in `docs` uses. A keyword that is not known here is a problem, and so is a
/// member of an object that its schema does not list.
struct JSONSchema {
    private let root: [String: Any]
    private let definitions: [String: Any]

    init(_ data: Data) throws {
        root = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
        definitions = root["$defs"] as? [String: Any] ?? [:]
    }

    /// Sentences about what is wrong with a document; none if it is valid.
    ///
    /// - Parameter definition: a name in `$defs`; nil for the whole schema.
    func problems(of document: Data, as definition: String? = nil) throws -> [String] {
        let value = try JSONSerialization.jsonObject(with: document)
        guard let definition else { return problems(value, root, at: "$") }
        return problems(value, ["$ref": "#/$defs/\(definition)"], at: "$")
    }

    private func problems(_ value: Any, _ schema: [String: Any], at place: String) -> [String] {
        schema.sorted { $0.key < $1.key }.flatMap { keyword, rule -> [String] in
            switch (keyword, rule) {
            case ("$schema", _), ("$defs", _), ("title", _), ("description", _): []
            case ("$ref", let name as String):
                if let target = definitions[String(name.dropFirst("#/$defs/".count))] as? [String: Any] {
                    problems(value, target, at: place)
                } else {
                    ["\(place): there is no \(name)"]
                }
            case ("type", let type as String):
                isOfType(value, type) ? [] : ["\(place): \(value) is no \(type)"]
            case ("const", let constant):
                isSame(value, constant) ? [] : ["\(place): \(value) is not \(constant)"]
            case ("enum", let values as [Any]):
                values.contains { isSame(value, $0) } ? [] : ["\(place): \(value) is not listed"]
            case ("minimum", let least as NSNumber):
                (value as? NSNumber).map { $0.doubleValue >= least.doubleValue } ?? true
                    ? [] : ["\(place): \(value) is less than \(least)"]
            case ("format", let format as String):
                format == "date-time" && isDate(value) ? [] : ["\(place): \(value) is no \(format)"]
            case ("items", let items as [String: Any]):
                (value as? [Any] ?? []).enumerated().flatMap { problems($1, items, at: "\(place)[\($0)]") }
            case ("required", let names as [String]):
                names.filter { (value as? [String: Any])?[$0] == nil }.map { "\(place): \($0) is missing" }
            case ("properties", let properties as [String: Any]):
                members(value, properties, at: place)
            case ("anyOf", let schemas as [[String: Any]]):
                schemas.contains { problems(value, $0, at: place).isEmpty }
                    ? [] : ["\(place): none of \(schemas.count) schemas fits"]
            default: ["\(place): the schema says \(keyword), which is not checked"]
            }
        }
    }

    private func members(_ value: Any, _ properties: [String: Any], at place: String) -> [String] {
        (value as? [String: Any] ?? [:]).flatMap { name, member in
            (properties[name] as? [String: Any]).map {
                problems(member, $0, at: "\(place).\(name)")
            } ?? ["\(place): \(name) is not in the schema"]
        }
    }

    private func isOfType(_ value: Any, _ type: String) -> Bool {
        switch (type, value) {
        case ("object", is [String: Any]), ("array", is [Any]), ("string", is String): true
        case ("boolean", let number as NSNumber): isBoolean(number)
        case ("number", let number as NSNumber): !isBoolean(number)
        case ("integer", let number as NSNumber):
            !isBoolean(number) && number.doubleValue.rounded() == number.doubleValue
        default: false
        }
    }

    private func isBoolean(_ number: NSNumber) -> Bool {
        "\(type(of: number as Any))".contains("Bool") || number.objCType.pointee == 0x63
    }

    private func isSame(_ value: Any, _ other: Any) -> Bool {
        (value as? NSObject)?.isEqual(other) ?? ("\(value)" == "\(other)")
    }

    private func isDate(_ value: Any) -> Bool {
        (value as? String)?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil
    }
}
