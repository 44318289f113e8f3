import Essentials

/// Parses the date forms that writers of this document have used.
///
/// - ISO 8601 "2026-09-18T12:00:00Z", with a fraction, with an offset ("+02:00", "+0200", "+02"),
///   with a space instead of the T, without seconds. Text without a zone is UTC.
/// - Unix seconds, or milliseconds from 10¹¹ on (seconds would be the year 5138), as a number or
///   as digits in a string.
///
/// Dates are floored to whole seconds, so that they survive a round trip.
enum LenientDate {
    static func date(fromUnixTime number: Double) -> Date? {
        guard number.isFinite else { return nil }
        return date(fromSeconds: number.magnitude >= 1e11 ? number / 1000 : number)
    }

    static func date(fromSeconds number: Double) -> Date? {
        let seconds = number.rounded(.down)
        guard SnapshotLimits.secondsSince1970.contains(seconds) else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }

    static func date(fromText text: String) -> Date? {
        let trimmed = text.trimmed()
        guard trimmed.utf8.count <= 64 else { return nil }
        if let number = Double(trimmed) { return date(fromUnixTime: number) }
        var scanner = DigitScanner(bytes: Array(trimmed.utf8))
        return scanner.timestamp().flatMap { date(fromSeconds: Double($0)) }
    }
}

/// A cursor over the ASCII of one timestamp.
private struct DigitScanner {
    let bytes: [UInt8]
    var position = 0

    /// Seconds since 1970, fraction dropped.
    mutating func timestamp() -> Int? {
        guard let year = number(digits: 4), skip("-"), let month = number(digits: 2), skip("-"),
            let day = number(digits: 2),
            let days = GregorianDay.number(year: year, month: month, day: day),
            skip("T") || skip("t") || skip(" "),
            let hour = number(digits: 2), hour < 24, skip(":"),
            let minute = number(digits: 2), minute < 60
        else { return nil }
        var second = 0
        if skip(":") {
            // A leap second is the first second of the next minute.
            guard let seconds = number(digits: 2), seconds <= 60 else { return nil }
            second = seconds
            if skip(".") || skip(",") {
                guard skipDigits() else { return nil }
            }
        }
        guard let offset = offsetSeconds(), position == bytes.count else { return nil }
        return days * 86_400 + hour * 3_600 + minute * 60 + second - offset
    }

    private mutating func offsetSeconds() -> Int? {
        if position == bytes.count || skip("Z") || skip("z") { return 0 }
        let sign = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hours = number(digits: 2), hours <= 18 else { return nil }
        if position == bytes.count { return sign * hours * 3_600 }
        _ = skip(":")
        guard let minutes = number(digits: 2), minutes < 60 else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }

    private mutating func number(digits: Int) -> Int? {
        guard position + digits <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[position..<position + digits] {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        position += digits
        return value
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipDigits() -> Bool {
        let start = position
        while number(digits: 1) != nil {}
        return position > start
    }
}
