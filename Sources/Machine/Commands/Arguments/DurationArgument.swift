import ArgumentParser
package import Essentials

/// A duration as users write it.
package enum DurationArgument {
    private static let units: [Character: TimeInterval] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    private static let limit: TimeInterval = 366 * 86_400

    /// The seconds of "90", "90s", "30m", "6h" or "2d"; for `transform` of an option.
    package static func seconds(_ text: String) throws -> TimeInterval {
        let unit = text.last.flatMap { units[$0] }
        guard let number = Double(unit == nil ? text : String(text.dropLast())),
            (0...limit).contains(number * (unit ?? 1))
        else { throw ValidationError("invalid duration '\(text)': use a number with s, m, h or d, up to 366d") }
        return number * (unit ?? 1)
    }
}
