import SnapshotModels
import TerminalText

/// How old something is, and what that means, in words.
enum AgeText {
    /// The age of a provider's numbers.
    static func observed(
        _ provider: ProviderState, model: ViewModel
    ) -> (text: String, style: TextStyle) {
        let date = provider.snapshot.lastUpdated
        let age = DurationWords.age(of: date, at: model.now)
        let moment =
            model.options.isAbsolute
            ? ClockText(zone: model.zone, now: model.now).text(date) : age
        return switch provider.freshness {
        case .fresh: (moment, .dim)
        case .cached: ("as of " + moment, .dim)
        case .stale: ("stale, as of " + moment, .colored(.yellow))
        case .clockAhead: ("clock ahead", .colored(.yellow))
        }
    }

    /// A device's presence and the age of its last push.
    static func pushed(
        _ device: DeviceState, model: ViewModel
    ) -> (presence: String, age: String, style: TextStyle) {
        let age = DurationWords.age(of: device.lastPush, at: model.now)
        let moment =
            model.options.isAbsolute
            ? ClockText(zone: model.zone, now: model.now).text(device.lastPush) : age
        return switch device.presence {
        case .active: ("active", "pushed " + moment, .plain)
        case .stale: ("stale", "last push \(moment), check usage-push there", .colored(.yellow))
        case .unknown: ("unknown", "last known push \(moment)", .plain)
        case .clockAhead:
            ("clock ahead", "its clock is fast, or this one is slow", .colored(.yellow))
        }
    }
}
