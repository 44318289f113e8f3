import Essentials

/// The format of `model-prices.json` and of the user's `prices.json`:
///
///     {"models": {"claude-opus-5": {"provider": "anthropic", "input": 5, "output": 25, "cacheRead": 0.5}}}
///
/// A model has the members of `modelMembers`, of which `input` and `output` are required; `longContext` is a list of
/// objects with `above`, a number of tokens, and prices; `priority` and `ultrafast` are objects with prices and a
/// `longContext`, `offPeak` one with prices and `hours`, see `OffPeak`. The unit is US dollars per million tokens, for
/// `webSearch` per search; `fast` is a factor.
struct ModelPricesDocument {
    struct Failure: Error, Equatable {
        let reason: String
    }

    static let byteLimit = 1_048_576
    static let modelLimit = 4_096
    /// The limit of every price and factor, which keeps sums of them finite.
    static let priceLimit = 1_000_000.0
    private static let listLimit = 16

    private static let rateMembers = [
        "input", "output", "cacheRead", "cacheWrite5m", "cacheWrite1h",
    ]
    private static let modelMembers =
        rateMembers + ["longContext", "priority", "ultrafast", "offPeak", "fast", "webSearch", "provider", "version"]

    private(set) var models: [String: ModelPrice] = [:]
    /// Nil unless the document states date, source and version.
    private(set) var origin: ModelPrices.Origin?
    /// A model with a mistake is left out and named, with the member and the next step.
    private(set) var issues: [String] = []

    init(_ data: Data) throws(Failure) {
        do throws(JSONDocumentError) {
            _ = try JSONOutline(Array(data))
        } catch {
            throw Failure(reason: error.description)
        }
        guard let document = JSONFields(data) else { throw Failure(reason: "not a JSON object, or nested too deeply") }
        guard let table = document.fields("models") else { throw Failure(reason: "models is not an object") }
        if let date = document.text("date"), let source = document.text("source"),
            let version = document.text("version")
        {
            origin = ModelPrices.Origin(date: date, source: source, version: version)
        }
        let names = table.names.sorted()
        for name in names.prefix(Self.modelLimit) {
            do throws(Failure) {
                let price = try Self.price(name, table.fields(name))
                models[price.name] = price
            } catch {
                issues.append("models.\(name)\(error.reason); correct it, or remove it to use the package's price")
            }
        }
        if names.count > Self.modelLimit {
            issues.append("models has more than \(Self.modelLimit) members; remove those that you do not use")
        }
    }

    private static func price(_ name: String, _ fields: JSONFields?) throws(Failure) -> ModelPrice {
        guard let fields else { throw Failure(reason: " is not an object") }
        guard !name.isEmpty, name.utf8.count <= ModelAlias.byteLimit else {
            throw Failure(reason: ": a name has 1 to \(ModelAlias.byteLimit) bytes")
        }
        try check(fields, has: modelMembers, at: "")
        var price = ModelPrice(
            name: name.lowercased(), provider: fields.text("provider"), standard: try list(fields, at: ""),
            fast: try number("fast", fields, at: ""),
            webSearch: try number("webSearch", fields, at: ""), version: fields.text("version"))
        for tier in ServiceTier.listed where fields.names.contains("\(tier)") {
            guard let service = fields.fields("\(tier)") else { throw Failure(reason: ".\(tier) is not an object") }
            try check(service, has: rateMembers + ["longContext"], at: ".\(tier)")
            price.services[tier] = try list(service, at: ".\(tier)")
        }
        if fields.names.contains("offPeak") {
            guard let offPeak = fields.fields("offPeak") else { throw Failure(reason: ".offPeak is not an object") }
            try check(offPeak, has: rateMembers + ["hours"], at: ".offPeak")
            price.offPeak = OffPeak(rates: try rates(offPeak, at: ".offPeak"), hours: offPeak.text("hours") ?? "")
            guard price.offPeak != nil else {
                throw Failure(reason: ".offPeak.hours is not as \"1-5 10:00-24:00, 6-7 00:00-24:00\"")
            }
        }
        return price
    }

    private static func list(_ fields: JSONFields, at place: String) throws(Failure) -> ModelPrice.List {
        var list = ModelPrice.List(rates: try rates(fields, at: place))
        guard fields.names.contains("longContext") else { return list }
        let elements = fields.list("longContext")
        guard (1...listLimit).contains(elements.count) else {
            throw Failure(reason: "\(place).longContext is not a list of 1 to \(listLimit) objects")
        }
        for (index, element) in elements.enumerated() {
            let place = "\(place).longContext[\(index)]"
            try check(element, has: rateMembers + ["above"], at: place)
            guard let above = element.number("above").flatMap({ Int(exactly: $0) }), above > 0,
                above > list.longContext.last?.above ?? 0
            else { throw Failure(reason: "\(place).above is not a number of tokens, each larger than the last") }
            list.longContext.append(.init(above: above, rates: try rates(element, at: place)))
        }
        return list
    }

    private static func rates(_ fields: JSONFields, at place: String) throws(Failure) -> ModelPrice.Rates {
        guard let input = try number("input", fields, at: place) else {
            throw Failure(reason: "\(place).input is missing")
        }
        guard let output = try number("output", fields, at: place) else {
            throw Failure(reason: "\(place).output is missing")
        }
        return ModelPrice.Rates(
            input: input, output: output, cacheRead: try number("cacheRead", fields, at: place),
            cacheWrite5m: try number("cacheWrite5m", fields, at: place),
            cacheWrite1h: try number("cacheWrite1h", fields, at: place))
    }

    /// Nil when there is no such member.
    private static func number(_ name: String, _ fields: JSONFields, at place: String) throws(Failure) -> Double? {
        guard fields.names.contains(name) else { return nil }
        guard let number = fields.number(name), number.isFinite else {
            throw Failure(reason: "\(place).\(name) is not a number")
        }
        guard number >= 0 else { throw Failure(reason: "\(place).\(name) is negative") }
        guard number <= priceLimit else { throw Failure(reason: "\(place).\(name) is more than \(Int(priceLimit))") }
        return number
    }

    /// A misspelled price would otherwise be one that is missing.
    private static func check(_ fields: JSONFields, has members: [String], at place: String) throws(Failure) {
        guard let unknown = fields.names.sorted().first(where: { !members.contains($0) }) else { return }
        throw Failure(reason: "\(place).\(unknown) is unknown: the members are " + members.joined(separator: ", "))
    }
}
