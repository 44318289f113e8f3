public import Foundation

/// A spending limit and how much of it is used.
public struct SyncBudget: Codable, Sendable, Equatable {
    public var usedAmount: Double
    public var limitAmount: Double
    /// ISO 4217, or "credits" where the provider counts in its own unit.
    public var currencyCode: String
    public var period: String?
    public var resetsAt: Date?

    public init(
        usedAmount: Double, limitAmount: Double, currencyCode: String, period: String? = nil,
        resetsAt: Date? = nil
    ) {
        self.usedAmount = usedAmount
        self.limitAmount = limitAmount
        self.currencyCode = currencyCode
        self.period = period
        self.resetsAt = resetsAt
    }
}

/// Prepaid credits.
public struct SyncCredits: Codable, Sendable, Equatable {
    /// Credits left; nil where the provider names no number.
    public var balance: Double?
    public var unlimited: Bool

    public init(balance: Double? = nil, unlimited: Bool = false) {
        self.balance = balance
        self.unlimited = unlimited
    }
}
