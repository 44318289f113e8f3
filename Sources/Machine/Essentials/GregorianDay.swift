/// Days of the Gregorian calendar.
package enum GregorianDay {
    /// Days since 1970-01-01; nil for a day that does not exist.
    package static func number(year: Int, month: Int, day: Int) -> Int? {
        guard (1...12).contains(month), day >= 1, day <= length(ofMonth: month, in: year) else { return nil }
        // Years begin in March, so that a leap day ends one.
        let shifted = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        return 365 * shifted + quotient(shifted, 4) - quotient(shifted, 100) + quotient(shifted, 400)
            + (153 * monthFromMarch + 2) / 5 + day - 719_469
    }

    /// The date of a number of days since 1970-01-01; months and days are from 1 on.
    package static func date(_ number: Int) -> (year: Int, month: Int, day: Int) {
        // Years begin in March, in eras of 400 years.
        let shifted = number + 719_468
        let era = quotient(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        return (
            yearOfEra + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }

    /// From 0, Monday, to 6.
    package static func weekday(_ number: Int) -> Int {
        // 1970-01-01 was a Thursday.
        number + 3 - quotient(number + 3, 7) * 7
    }

    package static func length(ofMonth month: Int, in year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    package static func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }

    /// Rounded down.
    package static func quotient(_ value: Int, _ divisor: Int) -> Int {
        value / divisor - (value % divisor < 0 ? 1 : 0)
    }
}
