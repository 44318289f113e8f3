import Essentials

/// An IDE's options of JetBrains AI: XML with an attribute for each option, and JSON in the attribute.
///
///     <option name="quotaInfo" value="{&quot;current&quot;: &quot;375000.0&quot;, …}" />
///
/// `quotaInfo` has what is used (`current`) of how much (`maximum`), with `tariffQuota` for what renews and
/// `topUpQuota` for what was bought besides; `nextRefill` has when it renews and how often (docs/log-shapes.md says
/// where that was seen).
enum JetBrainsQuota {
    private static let byteLimit = 262_144

    /// The quota that renews: what was bought is used only after it.
    static func readings(in document: Data, origin: LimitReading.Origin, writtenAt: Date) -> [LimitReading] {
        guard document.count <= byteLimit else { return [] }
        let text = String(decoding: document, as: UTF8.self)
        guard let info = option("quotaInfo", in: text) else { return [] }
        let quota = info.fields("tariffQuota") ?? info
        guard let used = quota.number("current"), let limit = quota.number("maximum"), limit > 0 else { return [] }
        let refill = option("nextRefill", in: text)
        let kind = refill?.fields("tariff")?.text("duration").flatMap(minutes).map {
            WindowKind(minutes: $0, place: 0)
        }
        let window = LimitReading.Window(
            kind: kind ?? .unstated, usedPercent: used / limit * 100,
            resetsAt: refill?.reset("next") ?? info.reset("until"))
        // A file that was copied or written again later still holds the numbers of its own window.
        let observedAt = min(writtenAt, window.resetsAt ?? writtenAt)
        return [LimitReading(limit: "quota", windows: [window], observedAt: observedAt, origin: origin)]
    }

    private static func option(_ name: String, in text: String) -> JSONFields? {
        guard let start = text.firstRange(of: "name=\"\(name)\"")?.upperBound,
            let value = text[start...].prefix(while: { $0 != ">" }).firstRange(of: "value=\""),
            let end = text[value.upperBound...].firstIndex(of: "\"")
        else { return nil }
        return JSONFields(Data(unescaped(text[value.upperBound..<end]).utf8))
    }

    /// JSON needs no other entities: line breaks are only between its values.
    private static func unescaped(_ text: Substring) -> String {
        [("&quot;", "\""), ("&#10;", "\n"), ("&#13;", "\n"), ("&#9;", " "), ("&amp;", "&")]
            .reduce(String(text)) { $0.replacing($1.0, with: $1.1) }
    }

    /// "PT720H" and "P30D" are 43 200 minutes.
    private static func minutes(_ duration: String) -> Int? {
        guard let match = duration.wholeMatch(of: /P(?:(\d{1,4})D)?(?:T(\d{1,5})H)?/) else { return nil }
        let hours = (match.1.flatMap { Int($0) } ?? 0) * 24 + (match.2.flatMap { Int($0) } ?? 0)
        return (1...8_784).contains(hours) ? hours * 60 : nil
    }
}
