import ClockZones
import Essentials
import UsageState

/// What the service worker of the page shows: one JSON object.
struct NotificationPayload: Encodable {
    var title: String
    var body: String
    /// A later notification with the same tag replaces the earlier one.
    var tag: String
    /// What a tap opens, relative to the page.
    var url = "./"
    /// ISO 8601 in UTC.
    var at: Date

    /// Bytes; escaped, each takes at most twice as many.
    private static let titleLimit = 200
    private static let bodyLimit = 1_100

    init(_ alert: Alert, now: Date, zone: ClockZone) {
        let text = AlertText(alert, now: now, zone: zone)
        title = text.title
        body = text.message
        tag = alert.tag
        at = alert.at
    }

    /// For trying whether notifications arrive.
    init(testAt now: Date) {
        title = "Test notification"
        body = "Alerts about limits reach you here."
        tag = Alert.test(at: now).tag
        at = now
    }

    func message(urgency: Alert.Urgency, secondsToLive: Int) -> PushMessage {
        var payload = self
        payload.title = title.prefix(bytes: Self.titleLimit)
        payload.body = body.prefix(bytes: Self.bodyLimit)
        let data = JSONEncoder.sorted(dates: .iso8601).data(of: payload)
        guard let message = PushMessage(data, secondsToLive: secondsToLive, urgency: urgency, topic: tag)
        else { preconditionFailure("texts are cut, and tags are short names or hashes") }
        return message
    }
}

extension Alert {
    /// The same for all alerts about a window or device, whatever has happened there.
    var tag: String {
        guard let subject else { return mark.key }
        return AlertMark.hash(subject.providerID, subject.account ?? "", subject.window)
    }
}

extension String {
    /// Its beginning in at most `limit` bytes of UTF-8, with an ellipsis if it is cut.
    fileprivate func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var (cut, count) = (String.UnicodeScalarView(), 0)
        for scalar in unicodeScalars {
            count += String(scalar).utf8.count
            // The ellipsis has three.
            guard count <= limit - 3 else { break }
            cut.append(scalar)
        }
        return String(cut) + "…"
    }
}
