import Essentials

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
        func number(_ start: Int, _ count: Int) -> Int? {
            guard start + count <= text.count else { return nil }
            var value = 0
            for index in start..<start + count {
                let digit = text[index] &- 0x30
                guard digit < 10 else { return nil }
                value = value * 10 + Int(digit)
            }
            return value
        }
        guard let year = number(0, 4), let month = number(5, 2), let day = number(8, 2),
            let hour = number(11, 2), let minute = number(14, 2), let second = number(17, 2),
            let days = GregorianDay.number(year: year, month: month, day: day), hour < 24,
            minute < 60, second < 61
        else { return nil }
        var index = 19
        var fraction = 0
        if text[index] == 0x2E {
            index += 1
            var scale = 100
            while index < text.count, text[index] &- 0x30 < 10 {
                fraction += Int(text[index] &- 0x30) * scale
                scale /= 10
                index += 1
            }
        }
        guard index < text.count else { return nil }
        var offset = 0
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
        let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second
        let milliseconds = Int64((seconds - offset) * 1_000 + fraction)
        return range.contains(milliseconds) ? milliseconds : nil
    }
}
