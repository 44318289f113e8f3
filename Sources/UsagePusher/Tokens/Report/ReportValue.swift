/// A value of a report's JSON, whose members depend on the kind of report.
package indirect enum ReportValue: Encodable {
    case object([String: ReportValue])
    case list([ReportValue])
    case text(String)
    case count(Int)
    case number(Double)
    case flag(Bool)
    case null

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .object(let members): try container.encode(members)
        case .list(let elements): try container.encode(elements)
        case .text(let text): try container.encode(text)
        case .count(let count): try container.encode(count)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .null: try container.encodeNil()
        }
    }

    /// Tokens that may be of an earlier day; no member if there are none, as ccusage has none.
    package static func coarse(_ amount: UsageAmount) -> [String: ReportValue] {
        amount.coarseTokens > 0 ? ["sessionDatedTokens": .count(amount.coarseTokens)] : [:]
    }

    /// Tokens that are known from another counter alone; no member if there are none.
    static func imported(_ amount: UsageAmount) -> [String: ReportValue] {
        amount.importedTokens > 0 ? ["importedTokens": .count(amount.importedTokens)] : [:]
    }

    /// What a cost lacks; no members if it lacks nothing, as ccusage has none.
    package static func unpriced(_ amount: UsageAmount, _ mode: CostMode) -> [String: ReportValue] {
        let count = amount.cost.unknownCount(mode)
        guard count > 0 else { return [:] }
        return [
            "unpricedRequests": .count(count),
            "unpricedTokens": .count(amount.cost.unknownTokens(mode)),
            "unpricedShare": .number(amount.unknownShare(mode)),
        ]
    }

    /// An object that says in "incomplete" for which tools the sums may be too small; unchanged when for none.
    package func stating(gaps: [String]) -> ReportValue {
        guard case .object(var members) = self, !gaps.isEmpty else { return self }
        members["incomplete"] = .texts(gaps)
        return .object(members)
    }

    package static func texts(_ texts: some Sequence<String>) -> ReportValue { .list(texts.map { .text($0) }) }
}
