import ClockZones
import Essentials
import KVStoreEssentials
import KVStoreServer
import KVStoreWire
import UsageState

/// What a request asks for.
struct UsageQuery: Sendable, Equatable {
    enum Format: String, Sendable, CaseIterable {
        case json, text, svg
        /// Cards, what is behind one, and what all cost, for a screen that renders them.
        case cards, details, spending

        var mediaType: String {
            switch self {
            case .json, .cards, .details, .spending: MediaType.json
            case .text: "text/plain; charset=utf-8"
            case .svg: "image/svg+xml"
            }
        }
    }

    /// As in the query, percent-encoded.
    var store: Substring
    var format: Format
    var provider: String?
    var account: String?
    var window: String?
    var measure: ViewOptions.Measure
    /// The zone of the days of costs and of clock times.
    var zone: ClockZone

    var isDefaultStore: Bool { store == StoreConfiguration.defaultStoreName }

    init(_ request: Request) throws(Problem) {
        store = request.parameter("store") ?? StoreConfiguration.defaultStoreName[...]
        format = try Self.format(request)
        provider = try Self.text(request, "provider")
        account = try Self.text(request, "account")
        window = try Self.text(request, "window")
        switch try Self.text(request, "left") {
        case nil, "false", "0": measure = .used
        case "", "true", "1": measure = .left
        case let value?:
            throw .badQuery("left is '\(value.shown)'", hint: "use left=true or leave it out")
        }
        zone = .local
        if let text = try Self.text(request, "zone") {
            guard let zone = ClockZone(offset: text) else {
                throw .badQuery(
                    "zone '\(text.shown)' is not an offset from UTC", hint: "use zone=+02:00, zone=-05:30 or zone=Z")
            }
            self.zone = zone
        }
    }

    private static func format(_ request: Request) throws(Problem) -> Format {
        guard let name = try text(request, "format") else { return Format(accept: request.fields.accept ?? "") }
        guard let format = name == "badge" ? .svg : Format(rawValue: name) else {
            throw .badQuery(
                "format '\(name.shown)' is unknown",
                hint: "use format=json, cards, details, spending or text, or format=svg for a badge")
        }
        return format
    }

    private static func text(_ request: Request, _ name: String) throws(Problem) -> String? {
        guard let value = request.parameter(name) else { return nil }
        guard let text = Request.decode(value) else {
            throw .badQuery("\(name) is not percent-encoded UTF-8", hint: "encode % as %25")
        }
        return text
    }
}

extension UsageQuery.Format {
    /// The media type that a client likes best; of equal ones the first, of none JSON.
    init(accept: String) {
        var best = (format: Self.json, quality: 0.0)
        for range in accept.split(separator: ",").prefix(32) {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " }.lowercased() }
            let quality =
                parts.dropFirst().first { $0.hasPrefix("q=") }
                .map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            let format: Self? =
                switch parts.first {
                case "application/json", "application/*", "*/*": .json
                case "text/plain", "text/*": .text
                case "image/svg+xml", "image/*": .svg
                default: nil
                }
            if let format, quality > best.quality { best = (format, quality) }
        }
        self = best.format
    }
}

extension ClockZone {
    /// "+02:00", "-0530", "Z"; nil for anything else, and for more than 18 hours.
    fileprivate init?(offset text: String) {
        if text == "Z" || text == "UTC" {
            self = .fixed(secondsFromGMT: 0)
            return
        }
        let digits = text.dropFirst().filter { $0 != ":" }
        guard let sign = text.first, sign == "+" || sign == "-", text.utf8.count <= 6,
            digits.utf8.count == 4, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(digits), number <= 1_800, number % 100 < 60
        else { return nil }
        let seconds = (number / 100 * 60 + number % 100) * 60
        self = .fixed(secondsFromGMT: sign == "-" ? -seconds : seconds)
    }
}

extension String {
    /// A value of the request, in an error.
    var shown: String { printable(scalarLimit: 64) }
}

extension Problem {
    static func badQuery(_ detail: String, hint: String) -> Problem {
        Problem(400, "bad-query", "Invalid query", detail: detail, hint: hint)
    }

    static func unknownUsage(_ detail: String, hint: String) -> Problem {
        Problem(404, "unknown-usage", "Unknown usage", detail: detail, hint: hint)
    }

    static func answerTooLarge(limit: Int) -> Problem {
        Problem(
            507, "answer-too-large", "Answer too large", detail: "an answer may have \(limit) bytes", limit: limit,
            hint: "ask for one provider, account or window")
    }
}
