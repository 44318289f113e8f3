import ClockZones
import Essentials
import UsageState

/// What an account wants to hear of on its phones, and when.
///
///     { "rules": as in usage-push.json, "quietHours": "22:00-07:30" (only if there are any),
///       "utcOffset": minutes east of UTC (unknown: the zone of the daemon's machine) }
struct NotificationSettings: Sendable, Equatable {
    var rules = AlertRules()
    var quiet: QuietHours?
    var utcOffset: Int?

    init() {}

    /// The zone of clock times and quiet hours.
    var zone: ClockZone { utcOffset.map { .fixed(secondsFromGMT: $0 * 60) } ?? .local }

    var watch: AlertWatch.Settings { AlertWatch.Settings(rules: rules, quiet: quiet) }
}

extension NotificationSettings: Codable {
    private enum CodingKeys: String, CodingKey {
        case rules, utcOffset
        case quiet = "quietHours"
    }

    /// What is missing has its default, as has what is wrong in `rules`, except for thresholds.
    init(from decoder: any Decoder) throws {
        self.init()
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        if fields.contains(.rules) {
            rules = try fields.decode(AlertRules.self, forKey: .rules)
            let stated = try fields.decode(Thresholds.self, forKey: .rules)
            let lists = [stated.thresholds ?? []] + (stated.scopes ?? [:]).values
            guard lists.allSatisfy({ AlertRules.valid($0) != nil }),
                (stated.scopes ?? [:]).keys.allSatisfy({ AlertRules.scope($0) == $0 }),
                stated.scopes?.count ?? 0 <= AlertRules.scopeLimit
            else {
                throw DecodingError.dataCorruptedError(
                    forKey: .rules, in: fields, debugDescription: "thresholds or scopes")
            }
        }
        quiet = try fields.decodeIfPresent(QuietHours.self, forKey: .quiet)
        utcOffset = try fields.decodeIfPresent(Int.self, forKey: .utcOffset)
        guard utcOffset.map((-1_080...1_080).contains) ?? true else {
            throw DecodingError.dataCorruptedError(
                forKey: .utcOffset, in: fields, debugDescription: "more than 18 hours")
        }
    }

    private struct Thresholds: Decodable {
        var thresholds: [Double]?
        var scopes: [String: [Double]]?
    }
}
