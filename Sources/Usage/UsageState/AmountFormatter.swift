import Essentials
package import SnapshotModels
import TerminalText

/// Percentages, money and credits as text.
package enum AmountFormatter {
    /// A whole percentage that never rounds across a significant limit: more than nothing is at least "<1 %", less
    /// than everything at most "99 %". Not clamped: "105 %", "-5 %".
    ///
    /// - Parameter isLeft: rounds halves down, so that used and left add up to 100.
    package static func percent(_ percent: Double, isLeft: Bool = false) -> String {
        if percent > 0, percent < 1 { return "<1 %" }
        if percent > 99, percent < 100 { return "99 %" }
        let rounded = isLeft ? (percent - 0.5).rounded(.up) : (percent + 0.5).rounded(.down)
        return "\(Int(min(max(rounded, -999_999), 999_999))) %"
    }

    /// "~42 %"; "<1 %" is a bound, and stays one.
    package static func approximate(_ percent: String) -> String { percent.hasPrefix("<") ? percent : "~" + percent }

    /// "$4.00", "12.50 EUR", "3000.00 credits".
    package static func money(_ amount: Double, currency: String) -> String {
        switch currency {
        case "USD": amount < 0 ? "-$" + number(-amount) : "$" + number(amount)
        case "": number(amount)
        default: number(amount) + " " + currency
        }
    }

    /// "$4.00 of $20.00", "462.04 of 3000.00 credits".
    package static func ratio(_ used: Double, of limit: Double, currency: String) -> String {
        (currency == "USD" ? money(used, currency: currency) : number(used)) + " of " + money(limit, currency: currency)
    }

    /// "812 tokens", "31k tokens", "1.2M tokens".
    package static func tokens(_ count: Int) -> String {
        count == 1 ? "1 token" : CountFormatter.abbreviated(count) + " tokens"
    }

    /// "812 bytes", "31 KB": rounded down, of 1 000 bytes.
    package static func bytes(_ count: Int) -> String {
        count < 10_000 ? (count == 1 ? "1 byte" : "\(count) bytes") : "\(count / 1_000) KB"
    }

    /// Two decimals, or a power of ten for what does not fit a line.
    package static func number(_ amount: Double) -> String {
        amount.magnitude < 1e12 ? amount.decimal(places: 2) : amount.text("%.3g")
    }
}

extension SyncCredits {
    /// "unlimited", "128.50 left"; nil without a number.
    package var summary: String? { unlimited ? "unlimited" : balance.map { AmountFormatter.number($0) + " left" } }
}
