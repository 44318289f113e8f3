import Essentials

/// A day of the Gregorian calendar, in no particular time zone.
package struct CalendarDay: Sendable, Hashable, Comparable {
    /// Days since 1970-01-01.
    package var number: Int

    package init(number: Int) { self.number = number }

    /// "2026-09-18" or "20260918"; nil for anything else, and for a day that does not exist.
    package init?(_ text: String) {
        let digits = Array(text.utf8)
        let hasHyphens = digits.count == 10 && digits[4] == 0x2D && digits[7] == 0x2D
        guard hasHyphens || digits.count == 8 else { return nil }
        func number(_ start: Int, _ count: Int) -> Int? {
            digits[start..<start + count].reduce(0) { value, digit in
                guard let value, digit &- 0x30 < 10 else { return nil }
                return value * 10 + Int(digit - 0x30)
            }
        }
        guard let year = number(0, 4), let month = number(hasHyphens ? 5 : 4, 2),
            let day = number(hasHyphens ? 8 : 6, 2), year > 0,
            let days = GregorianDay.number(year: year, month: month, day: day)
        else { return nil }
        self.number = days
    }

    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    /// From 1 on.
    package var date: (year: Int, month: Int, day: Int) { GregorianDay.date(number) }

    package var weekday: Weekday { Weekday.allCases[GregorianDay.weekday(number)] }

    /// The last day before or on this one that is a `weekday`.
    package func onOrBefore(_ weekday: Weekday) -> CalendarDay {
        let days = self.weekday.index - weekday.index
        return CalendarDay(number: number - (days < 0 ? days + 7 : days))
    }

    /// "2026-09"
    package var month: String { String(description.dropLast(3)) }

    /// The first day of the month.
    var startOfMonth: CalendarDay { CalendarDay(number: number - date.day + 1) }

    /// The last day of the month.
    var endOfMonth: CalendarDay {
        CalendarDay(number: CalendarDay(number: startOfMonth.number + 31).startOfMonth.number - 1)
    }
}

extension CalendarDay: CustomStringConvertible {
    /// "2026-09-18"
    package var description: String {
        let (year, month, day) = date
        return Self.padded(year, 4) + "-" + Self.padded(month, 2) + "-" + Self.padded(day, 2)
    }

    static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

package enum Weekday: String, Sendable, CaseIterable {
    case monday, tuesday, wednesday, thursday, friday, saturday, sunday

    /// Monday is 0.
    var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
