import Essentials
import UsageState

/// Numbers as reports show them, in no locale.
package enum ReportText {
    /// "1,234,567"
    package static func count(_ count: Int) -> String {
        let digits = String(count.magnitude)
        var text = count < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }

    /// "$1,234.56", "<$0.01" for less, "–" when nothing of it has a price, "$1.23+" when not everything has.
    package static func cost(_ amount: UsageAmount, _ mode: CostMode) -> String {
        let value = amount.cost.dollars(mode)
        let isPartial = amount.cost.unknownCount(mode) > 0
        if isPartial, value == 0 { return "–" }
        return dollars(value) + (isPartial ? "+" : "")
    }

    /// "12 %", "<1 %"; "100 %" only of everything.
    package static func share(_ share: Double) -> String { AmountFormatter.percent(share * 100) }

    package static func dollars(_ value: Double) -> String {
        if value > 0, value < 0.01 { return "<$0.01" }
        let cents = Int(exactly: (value * 100).rounded()) ?? 0
        let rest = String(cents % 100)
        return "$" + count(cents / 100) + "." + (rest.count < 2 ? "0" : "") + rest
    }

    /// "0.035376": without an exponent.
    package static func decimal(_ value: Double) -> String { value.decimal(places: 6) }
}
