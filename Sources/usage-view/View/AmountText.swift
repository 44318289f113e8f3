import Foundation

/// Money and credits.
enum AmountText {
    /// "$4.00", "12.50 EUR", "3000 credits".
    static func money(_ amount: Double, currency: String) -> String {
        switch currency {
        case "USD": amount < 0 ? "-$" + number(-amount) : "$" + number(amount)
        case "": number(amount)
        default: number(amount) + " " + currency
        }
    }

    /// "$4.00 of $20.00", "462.04 of 3000.00 credits".
    static func ratio(_ used: Double, of limit: Double, currency: String) -> String {
        currency == "USD"
            ? money(used, currency: currency) + " of " + money(limit, currency: currency)
            : number(used) + " of " + money(limit, currency: currency)
    }

    /// Two decimals; a power of ten beyond what fits a line.
    static func number(_ amount: Double) -> String {
        amount.magnitude < 1e12
            ? String(format: "%.2f", amount) : String(format: "%.3g", amount)
    }
}
