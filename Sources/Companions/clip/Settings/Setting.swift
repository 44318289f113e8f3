import Essentials
import TerminalText

/// A setting as a user names it, of those that a structure holds.
struct Setting<Settings> {
    let name: String
    /// In words, for help and errors.
    let values: String
    let text: (Settings) -> String
    /// Takes a text; returns whether it is a value.
    let take: (inout Settings, String) -> Bool

    /// One of some names.
    static func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ path: WritableKeyPath<Settings, Value>, _ meaning: String = ""
    ) -> Setting {
        of(name, path, Value.allCases.map(\.rawValue).joined(separator: ", ") + meaning, \.rawValue) {
            Value(rawValue: $0)
        }
    }

    static func number(
        _ name: String, _ path: WritableKeyPath<Settings, Int>, _ range: ClosedRange<Int>, _ unit: String
    ) -> Setting {
        of(name, path, "\(range.lowerBound) to \(range.upperBound)\(unit)", { String($0) }) {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    static func flag(_ name: String, _ path: WritableKeyPath<Settings, Bool>, _ meaning: String) -> Setting {
        of(name, path, "on or off; \(meaning)", { $0 ? "on" : "off" }) { ["on": true, "off": false][$0] }
    }

    /// Stored as an array of JSON.
    static func list(_ name: String, _ path: WritableKeyPath<Settings, [String]>, _ values: String) -> Setting {
        of(
            name, path, values,
            { list in
                let encoder = JSONEncoder()
                encoder.outputFormatting = .withoutEscapingSlashes
                return String(decoding: encoder.data(of: list), as: UTF8.self)
            }
        ) { text in
            guard text.utf8.count <= 65_536 else { return nil }
            // Nil for a list of a newer version: the default holds.
            return try? JSONDecoder().decode([String].self, from: Data(text.utf8))
        }
    }

    /// - Parameter value: nil for a text that is no value.
    static func of<Value>(
        _ name: String, _ path: WritableKeyPath<Settings, Value>, _ values: String,
        _ text: @escaping (Value) -> String, _ value: @escaping (String) -> Value?
    ) -> Setting {
        Setting(name: name, values: values, text: { text($0[keyPath: path]) }) { settings, text in
            guard let value = value(text) else { return false }
            settings[keyPath: path] = value
            return true
        }
    }

    /// A line for help, with the default.
    func help(_ settings: Settings) -> String {
        "  " + name.padded(toCells: 20) + values + " (\(text(settings)))"
    }
}
