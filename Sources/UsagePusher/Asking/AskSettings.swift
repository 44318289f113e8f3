import Essentials

/// That the user lets a tool itself be asked for its limits, and how often.
package struct AskSettings: Sendable, Equatable {
    /// Seconds from one question to the next.
    package var every: Int
    /// Nothing is asked while a reading is younger, in seconds.
    package var whenOlder: Int
    /// The absolute path that the tool's program had: the `PATH` of a service does not lead there.
    package var program: String

    package static let intervals = 60...86_400
    package static let ages = 60...86_400
    package static let defaultInterval = 600
    package static let defaultAge = 900
    /// The longest pause after failures, unless `every` is longer.
    private static let longestPause = 6 * 3_600

    package init?(every: Int, whenOlder: Int, program: String) {
        guard Self.intervals.contains(every), Self.ages.contains(whenOlder), program.hasPrefix("/") else { return nil }
        self.every = every
        self.whenOlder = whenOlder
        self.program = program
    }

    /// Seconds from a question to the next one, which double with each failure in a row.
    func pause(afterFailures count: Int) -> Int {
        count == 0 ? every : max(every, min(every << min(count, 10), Self.longestPause))
    }
}

extension AskSettings: Codable {
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let settings = AskSettings(
            every: try fields.decode(Int.self, forKey: .every),
            whenOlder: try fields.decode(Int.self, forKey: .whenOlder),
            program: try fields.decode(String.self, forKey: .program))
        guard let settings else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "its times or its program are out of range"))
        }
        self = settings
    }
}
