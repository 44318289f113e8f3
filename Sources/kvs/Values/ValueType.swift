import KVStore

/// The types of a property list by the names that the command line and the documents use.
enum ValueType: String, CaseIterable, Codable {
    case string, integer, double, bool, date, data, array, dictionary

    init(_ value: PropertyListValue) {
        self =
            switch value {
            case .string: .string
            case .integer: .integer
            case .double: .double
            case .bool: .bool
            case .date: .date
            case .data: .data
            case .array: .array
            case .dictionary: .dictionary
            }
    }
}

extension PropertyListValue {
    /// What the value counts in the quota.
    var byteCount: Int { encoded().count }
}
