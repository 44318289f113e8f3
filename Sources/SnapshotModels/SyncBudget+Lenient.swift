import Foundation

extension SyncBudget {
    enum CodingKeys: String, CodingKey {
        case usedAmount, limitAmount, currencyCode, period, resetsAt
    }

    /// Throws when one of the two amounts is not readable. A missing currency is US dollars.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        guard let used = fields.number(.usedAmount), let limit = fields.number(.limitAmount) else {
            throw DecodingError.dataCorruptedError(
                forKey: .usedAmount, in: fields, debugDescription: "no readable amounts")
        }
        self.init(
            usedAmount: used, limitAmount: limit,
            currencyCode: fields.text(.currencyCode) ?? "USD",
            period: fields.text(.period), resetsAt: fields.date(.resetsAt))
    }
}

extension SyncCredits {
    enum CodingKeys: String, CodingKey {
        case balance, unlimited
    }

    /// Throws only when the value is not an object.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            balance: fields.number(.balance), unlimited: fields.flag(.unlimited) ?? false)
    }
}
