/// Days of the Gregorian calendar.
package enum GregorianDay {
    /// Days since 1970-01-01; nil for a day that does not exist.
    package static func number(year: Int, month: Int, day: Int) -> Int? {
        guard (1...12).contains(month), day >= 1, day <= length(ofMonth: month, in: year) else { return nil }
        // Years begin in March, so that a leap day ends one.
        let shifted = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400
            + (153 * monthFromMarch + 2) / 5 + day - 719_469
    }

    private static func length(ofMonth month: Int, in year: Int) -> Int {
        switch month {
        case 2:
            let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
            return isLeap ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }
}
