public import Essentials

/// A spending limit and how much of it is used.
///
/// ```swift
/// claude.budget = SyncBudget(usedAmount: 12.5, limitAmount: 50, currencyCode: "USD", period: "month")
/// claude.credits = SyncCredits(balance: 20)
/// ```
public struct SyncBudget: Codable, Sendable, Equatable {
    public var usedAmount: Double
    public var limitAmount: Double
    /// ISO 4217, or "credits" for the provider's own unit.
    public var currencyCode: String
    public var period: String?
    public var resetsAt: Date?

    public init(
        usedAmount: Double, limitAmount: Double, currencyCode: String, period: String? = nil, resetsAt: Date? = nil
    ) {
        self.usedAmount = usedAmount
        self.limitAmount = limitAmount
        self.currencyCode = currencyCode
        self.period = period
        self.resetsAt = resetsAt
    }
}

/// Prepaid credits.
///
/// For an example see `SyncBudget`.
public struct SyncCredits: Codable, Sendable, Equatable {
    /// Credits left; nil when the provider does not state a number.
    public var balance: Double?
    public var unlimited: Bool

    public init(balance: Double? = nil, unlimited: Bool = false) {
        self.balance = balance
        self.unlimited = unlimited
    }
}

extension SyncBudget {
    /// Lenient; a missing currency is US dollars. Throws only when an amount is unreadable.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            usedAmount: try fields.required(.usedAmount, fields.number(.usedAmount)),
            limitAmount: try fields.required(.limitAmount, fields.number(.limitAmount)),
            currencyCode: fields.text(.currencyCode) ?? "USD",
            period: fields.text(.period), resetsAt: fields.date(.resetsAt))
    }
}

extension SyncCredits {
    /// Lenient. Throws only when the value is not an object.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(balance: fields.number(.balance), unlimited: fields.flag(.unlimited) ?? false)
    }
}
