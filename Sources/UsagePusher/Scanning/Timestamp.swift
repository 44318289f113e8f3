/// Times in the files of other tools, as milliseconds since 1970.
enum Timestamp {
    /// What is plausible: the years 2000 to 2099.
    private static let range: Range<Int64> = 946_684_800_000..<4_102_444_800_000

    /// Seconds or, from 10¹¹ on, milliseconds; nil outside the plausible years.
    static func milliseconds(unixTime number: Double) -> Int64? {
        let milliseconds = number.magnitude >= 1e11 ? number : number * 1_000
        guard milliseconds.magnitude < 1e15 else { return nil }
        let whole = Int64(milliseconds)
        return range.contains(whole) ? whole : nil
    }

    /// "2026-09-18T12:00:00Z", with a fraction or not, with an offset or "Z"; nil for anything else and outside the
    /// plausible years.
    static func milliseconds(iso8601 text: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard text.count >= 20, text.count <= 40, text[4] == 0x2D, text[7] == 0x2D,
            text[10] == 0x54 || text[10] == 0x20, text[13] == 0x3A, text[16] == 0x3A
        else { return nil }
        func number(_ start: Int, _ count: Int) -> Int64? {
            guard start + count <= text.count else { return nil }
            var value: Int64 = 0
            for index in start..<start + count {
                let digit = text[index] &- 0x30
                guard digit < 10 else { return nil }
                value = value * 10 + Int64(digit)
            }
            return value
        }
        guard let year = number(0, 4), let month = number(5, 2), let day = number(8, 2),
            let hour = number(11, 2), let minute = number(14, 2), let second = number(17, 2),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61
        else { return nil }
        var index = 19
        var fraction: Int64 = 0
        if text[index] == 0x2E {
            index += 1
            var scale: Int64 = 100
            while index < text.count, text[index] &- 0x30 < 10 {
                fraction += Int64(text[index] &- 0x30) * scale
                scale /= 10
                index += 1
            }
        }
        guard index < text.count else { return nil }
        var offset: Int64 = 0
        switch text[index] {
        case 0x5A, 0x7A: guard index + 1 == text.count else { return nil }
        case 0x2B, 0x2D:
            let hasColon = index + 3 < text.count && text[index + 3] == 0x3A
            guard index + (hasColon ? 6 : 5) == text.count, let hours = number(index + 1, 2),
                let minutes = number(index + (hasColon ? 4 : 3), 2), hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * (text[index] == 0x2B ? 60 : -60)
        default: return nil
        }
        let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
        let milliseconds = (seconds - offset) * 1_000 + fraction
        return range.contains(milliseconds) ? milliseconds : nil
    }

    /// Days since 1970 in the Gregorian calendar: years begin in March, so that a leap day ends one.
    static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let monthFromMarch = (month + 9) % 12
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400
            + (153 * monthFromMarch + 2) / 5 + day - 719_469
    }
}
