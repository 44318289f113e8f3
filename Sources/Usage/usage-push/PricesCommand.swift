import Essentials
import ArgumentParser
import Commands
import LocalFiles
import TerminalText
import UsagePusher

struct PricesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prices",
        abstract: "List what models cost, and where each price is from.",
        discussion: """
            Prices are US dollars per million tokens, and per web search. They come with the \
            program, as of the date below the list; no network is used. A model that is not \
            listed has no price: it is never priced as another one.

            A model is found without the prefix of its provider or gateway (anthropic/, \
            openrouter/openai/), a date (-20250929), an effort (-high) and [1m]; -fast is its \
            faster service, and us.anthropic. a region that costs more for newer models.

            --unpriced reads the tools' logs and lists every model that a report leaves out of \
            its costs, with its tokens, their share of all, and the lines that set its price.

            YOUR OWN PRICES
              ~/.config/ubiquity/prices.json adds models and replaces prices:

              {"models": {
                "my-model": {"input": 3, "output": 15, "cacheRead": 0.3,
                  "longContext": [{"above": 200000, "input": 6, "output": 22.5}]}
              }}

              input, output        required
              cacheRead, cacheWrite5m
                                   else as input
              cacheWrite1h, webSearch
                                   else unknown, and named where there are such tokens
              longContext          prices of all tokens of a request with a longer prompt
              priority, ultrafast  objects with prices of their own
              offPeak              an object with prices and "hours": days, Monday is 1, and
                                   times in UTC, as "1-5 10:00-24:00, 6-7 00:00-24:00"
              fast                 a factor
              provider             whose prefix the model may have

            EXAMPLES
              usage-push prices
              usage-push prices claude-opus-5 gpt-5.5
              usage-push prices --json
              usage-push prices --unpriced

            EXIT STATUS
              66 a model has no price
            """)

    @Argument(help: "Only these models.")
    var model: [String] = []

    @Flag(help: "List the models in the tools' logs that have no price.")
    var unpriced = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var reading: ReadingOptions

    func validate() throws {
        if unpriced, !model.isEmpty { throw ValidationError("--unpriced cannot be combined with models.") }
        if !unpriced, !reading.provider.isEmpty || reading.home != nil {
            throw ValidationError("--provider and --home need --unpriced.")
        }
    }

    func run() throws {
        if unpriced { return try listUnpriced() }
        let directories = UserDirectories()
        let (prices, issues) = ModelPrices.load(directories)
        for issue in issues { Console.report(issue) }
        let listing = PricesListing(
            prices: prices, models: model, ownFile: ModelPrices.ownFile(directories).path, home: directories.home)
        try Console.print(listing, isJSON: json)
        if let unknown = listing.unknown.first {
            throw CommandFailure(
                .noInput, "no price of \(unknown): add it to \(listing.ownFile); 'usage-push prices --help' shows how"
            )
        }
    }
}

extension PricesCommand {
    private func listUnpriced() throws {
        let directories = UserDirectories()
        // What is wrong with the user's file, the scan reports.
        let prices = ModelPrices.load(directories).prices
        let file = ModelPrices.ownFile(directories).path
        let usage = ReportScan(reading: reading).run()
        let listing = UnpricedListing(
            unpriced: UnpricedModels(usage, prices: prices), ownFile: file,
            // What is wrong with it, the scan has reported.
            hasFile: (try? FileStatus(path: file)) != nil, home: directories.home)
        try Console.print(listing, isJSON: json)
    }
}

/// Prices, as text or JSON. Pure.
struct PricesListing: Listing {
    let ownFile: String
    /// The asked models without a price.
    let unknown: [String]
    private let prices: ModelPrices
    private let listed: [(asked: String, price: ModelPrice)]
    private let home: String

    /// - Parameter models: none for all.
    init(prices: ModelPrices, models: [String], ownFile: String, home: String) {
        self.prices = prices
        self.ownFile = ownFile
        self.home = home
        listed =
            models.isEmpty
            ? prices.all.map { ($0.name, $0) }
            : models.compactMap { asked in prices.price(for: asked).map { (asked, $0) } }
        unknown = models.filter { prices.price(for: $0) == nil }
    }

    /// A row for each price list of a model, and where the prices are from.
    func lines(width: Int?) -> [String] {
        var table = TextTable(
            columns: [.init("MODEL", isFlexible: true), .init("PRICES")]
                + ["INPUT", "OUTPUT", "READ", "WRITE 5M", "WRITE 1H", "SEARCH"].map {
                    .init($0, alignment: .trailing)
                } + [.init("FROM")])
        for (_, price) in listed {
            let from = price.isOwn ? "your file" : price.version ?? prices.origin.version
            func append(_ name: String, _ label: String, _ rates: ModelPrice.Rates, last: [String]) {
                let kinds = [rates.input, rates.output, rates.cacheRead, rates.cacheWrite5m, rates.cacheWrite1h]
                table.append([name, label] + kinds.map(Self.text) + last)
            }
            func append(_ list: ModelPrice.List, _ label: String) {
                for tier in list.longContext {
                    let above =
                        tier.above.isMultiple(of: 1_000)
                        ? "\(tier.above / 1_000)k" : "\(tier.above)"
                    append("", label + "> " + above, tier.rates, last: [])
                }
            }
            let fast = price.fast.map { "fast ×\(Self.text($0))" } ?? ""
            append(price.name, fast, price.standard.rates, last: [Self.text(price.webSearch), from])
            append(price.standard, "")
            for (tier, list) in price.listedServices {
                append("", "\(tier)", list.rates, last: [])
                append(list, "\(tier) ")
            }
            if let offPeak = price.offPeak { append("", "off-peak", offPeak.rates, last: []) }
        }
        let origin = prices.origin
        let own = prices.all.count(where: \.isOwn)
        let file = VisibleText.escape(UserDirectories.abbreviated(ownFile, home: home))
        return (listed.isEmpty ? [] : table.lines(width: width)) + [
            "US dollars per million tokens and per search; from litellm \(origin.version), " + "read \(origin.date)",
            own == 0 ? "no prices of your own in \(file)" : "your own prices: \(own) in \(file)",
        ]
    }

    private static func text(_ price: Double?) -> String {
        guard let price else { return "–" }
        return price == price.rounded() && price < 1e15 ? "\(Int(price))" : "\(price)"
    }

    var document: some Encodable {
        Document(
            date: prices.origin.date, source: prices.origin.source, version: prices.origin.version,
            digest: prices.digest, ownFile: ownFile, unknown: unknown, models: listed.map(Model.init))
    }

    /// Fields are added, never renamed or removed.
    private struct Document: Encodable {
        var schemaVersion = 1
        var date: String
        var source: String
        var version: String
        var digest: String
        var ownFile: String
        var unknown: [String]
        var models: [Model]
    }

    private struct Model: Encodable {
        var asked: String
        var name: String
        var provider: String?
        var isOwn: Bool
        var version: String?
        var standard: List
        var priority: List?
        var ultrafast: List?
        var offPeak: Rates?
        var offPeakHours: String?
        var fast: Double?
        var webSearch: Double?

        init(_ asked: String, _ price: ModelPrice) {
            self.asked = asked
            name = price.name
            provider = price.provider
            isOwn = price.isOwn
            version = price.version
            standard = List(price.standard)
            priority = price.services[.priority].map(List.init)
            ultrafast = price.services[.ultrafast].map(List.init)
            offPeak = price.offPeak.map { Rates($0.rates) }
            offPeakHours = price.offPeak?.hours
            fast = price.fast
            webSearch = price.webSearch
        }
    }

    private struct List: Encodable {
        var rates: Rates
        var longContext: [Rates]

        init(_ list: ModelPrice.List) {
            rates = Rates(list.rates)
            longContext = list.longContext.map { Rates($0.rates, above: $0.above) }
        }
    }

    private struct Rates: Encodable {
        var above: Int?
        var input: Double
        var output: Double
        var cacheRead: Double?
        var cacheWrite5m: Double?
        var cacheWrite1h: Double?

        init(_ rates: ModelPrice.Rates, above: Int? = nil) {
            self.above = above
            input = rates.input
            output = rates.output
            cacheRead = rates.cacheRead
            cacheWrite5m = rates.cacheWrite5m
            cacheWrite1h = rates.cacheWrite1h
        }
    }
}
