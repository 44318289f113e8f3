/// The name of a page in the store `usage-ledger`: "day.<device>.2026-11-28", "month.<device>.2026-11", and
/// "import.<device>.2026-11" for what a machine has imported.
package struct LedgerKey: Sendable, Hashable {
    /// The device's id.
    package var device: String
    /// A day, or the first of a month, since 1970.
    package var day: Int
    package var isMonth = false
    /// Whether it is of what a machine has imported; then it is of a month.
    package var isImport = false

    package static let storeName = "usage-ledger"

    package init(device: String, day: Int, isMonth: Bool = false, isImport: Bool = false) {
        self.device = device
        self.isImport = isImport
        self.day = isMonth || isImport ? CalendarDay(number: day).startOfMonth.number : day
        self.isMonth = isMonth
    }

    /// Nil for any other key.
    package init?(_ name: String) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty else { return nil }
        switch parts[0] {
        case "day":
            guard parts[2].utf8.count == 10, let day = CalendarDay(String(parts[2])) else { return nil }
            self.init(device: String(parts[1]), day: day.number)
        case "month", "import":
            guard parts[2].utf8.count == 7, let day = CalendarDay(parts[2] + "-01") else { return nil }
            self.init(
                device: String(parts[1]), day: day.number, isMonth: parts[0] == "month", isImport: parts[0] == "import")
        default: return nil
        }
    }

    package var name: String {
        let day = CalendarDay(number: day)
        if isImport { return "import.\(device).\(day.month)" }
        return isMonth ? "month.\(device).\(day.month)" : "day.\(device).\(day)"
    }

    /// That of the whole month.
    var ofMonth: LedgerKey { LedgerKey(device: device, day: day, isMonth: true) }

    /// Whether the page can be about a day, or a later one.
    package func concerns(daysFrom first: Int) -> Bool {
        (isMonth ? CalendarDay(number: day).endOfMonth.number : day) >= first
    }

    /// Whether a value of the store is read: a page, or a rule.
    package static func isKey(_ name: String) -> Bool { LedgerKey(name) != nil || ForgetRule.isKey(name) }
}
