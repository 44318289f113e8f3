import LocalFiles
import TerminalText
import UsagePusher

/// The models without a price and how to set one, as text or JSON. Pure.
struct UnpricedListing: Listing {
    let unpriced: UnpricedModels
    let ownFile: String
    /// Whether the file has prices, to which these are added.
    let hasFile: Bool
    let home: String

    func lines(width: Int?) -> [String] {
        guard !unpriced.models.isEmpty else { return ["every request has a price, or a cost that its tool states"] }
        var table = TextTable(
            columns: [
                .init("MODEL", isFlexible: true), .init("TOOL"), .init("REQUESTS", alignment: .trailing),
                .init("TOKENS", alignment: .trailing), .init("SHARE", alignment: .trailing), .init("NO PRICE OF"),
            ])
        func append(_ name: String, _ tools: [String], _ requests: Int, _ tokens: Int, _ gaps: String) {
            table.append([
                name, tools.joined(separator: ", "), ReportText.count(requests),
                ReportText.count(tokens), ReportText.share(share(tokens)), gaps,
            ])
        }
        for model in unpriced.models {
            append(
                model.name ?? "unknown", model.providers, model.requestCount, model.tokens,
                model.gaps.names.joined(separator: ", "))
        }
        append("TOTAL", [], unpriced.total.cost.unknownCount, unpriced.total.cost.unknownTokens, "")
        return table.lines(width: width) + instructions(width: width)
    }

    /// Where to write which lines. They are not wrapped, so that they can be copied.
    private func instructions(width: Int?) -> [String] {
        let lines = unpriced.models.compactMap(\.line)
        guard !lines.isEmpty else { return [] }
        let file = VisibleText.escape(UserDirectories.abbreviated(ownFile, home: home))
        let sentence =
            "To set prices, write "
            + (hasFile ? "these lines into \"models\" of \(file)" : "this to \(file)")
            + ", with US dollars per million tokens (webSearch: per search; fast: a factor) for null:"
        let members = lines.map { "    " + $0 }.joined(separator: ",\n").split(separator: "\n").map(String.init)
        return [""] + sentence.wrapped(toCells: max(30, width ?? 100)) + [""]
            + (hasFile ? members : ["{", "  \"models\": {"] + members + ["  }", "}"])
    }

    private func share(_ tokens: Int) -> Double {
        let total = unpriced.total.counts.total
        return total > 0 ? Double(tokens) / Double(total) : 0
    }

    /// Fields are added, never renamed or removed.
    var document: some Encodable {
        Document(
            ownFile: ownFile, requests: unpriced.total.cost.unknownCount, tokens: unpriced.total.cost.unknownTokens,
            share: share(unpriced.total.cost.unknownTokens),
            models: unpriced.models.map { model in
                Model(
                    name: model.name, providers: model.providers, requests: model.requestCount, tokens: model.tokens,
                    share: share(model.tokens), missing: model.gaps.names, line: model.line)
            })
    }

    private struct Document: Encodable {
        var schemaVersion = 1
        var ownFile: String
        /// Without a price, and their tokens; `share` of all tokens in the tools' logs, 0 to 1.
        var requests: Int
        var tokens: Int
        var share: Double
        var models: [Model]
    }

    private struct Model: Encodable {
        var name: String?
        var providers: [String]
        var requests: Int
        var tokens: Int
        var share: Double
        var missing: [String]
        /// Nil where no price can be set.
        var line: String?
    }
}

extension TokenCost.Gaps {
    fileprivate var names: [String] {
        let names: [(Self, String)] = [
            (.model, "model"), (.tier, "service tier"), (.cacheWrite, "cache writes"), (.webSearch, "web searches"),
        ]
        return names.filter { contains($0.0) }.map(\.1)
    }
}
