import Essentials

/// What clocks do every year, in the form of `TZ` [POSIX.1-2024 8.3, RFC 9636 3.3.1]: `CET-1CEST,M3.5.0,M10.5.0/3`.
struct DaylightRule: Sendable, Equatable {
    /// Both in seconds east of UTC.
    private let standard: Int
    private let daylight: Daylight?

    private struct Daylight: Equatable {
        var offset: Int
        var start: Change
        var end: Change
    }

    /// - Parameter text: with the rules, where there is daylight time.
    init(_ text: ArraySlice<UInt8>) throws(InvalidZone) {
        var reader = Reader(rest: text)
        try reader.name()
        standard = -(try reader.time(hours: 24))
        guard !reader.isAtEnd else {
            daylight = nil
            return
        }
        try reader.name()
        let offset = reader.next == UInt8(ascii: ",") ? standard + 3_600 : -(try reader.time(hours: 24))
        let (start, end) = (try reader.change(), try reader.change())
        guard reader.isAtEnd else { throw .rule }
        daylight = Daylight(offset: offset, start: start, end: end)
    }

    /// Seconds east of UTC at a time in seconds since 1970.
    func offset(at seconds: Int) -> Int {
        guard let daylight else { return standard }
        let year = GregorianDay.date(GregorianDay.quotient(seconds + standard, 86_400)).year
        // The last change that is not later. A year may begin and end within daylight time, or have nothing else: then
        // it begins again when it ends.
        var last = (time: Int.min, isDaylight: false)
        for year in year - 1...year + 1 {
            let end = daylight.end.seconds(in: year) - daylight.offset
            if end <= seconds, end > last.time { last = (end, false) }
            let start = daylight.start.seconds(in: year) - standard
            if start <= seconds, start >= last.time { last = (start, true) }
        }
        return last.isDaylight ? daylight.offset : standard
    }

    /// A day of the year, and a time on its clocks in seconds, which may be days away.
    private struct Change: Equatable {
        enum Day: Equatable {
            /// From 1 to 365; February 29 has no number.
            case withoutLeapDay(Int)
            /// From 0 to 365.
            case ofYear(Int)
            /// The week is from 1 to 5, the last; the weekday from 0, Sunday.
            case ofMonth(Int, week: Int, weekday: Int)
        }

        var day: Day
        var time: Int

        /// On clocks as they are before the change, since 1970.
        func seconds(in year: Int) -> Int { dayNumber(in: year) * 86_400 + time }

        private func dayNumber(in year: Int) -> Int {
            let january = Self.first(of: 1, in: year)
            switch day {
            case .withoutLeapDay(let number):
                return january + number - (number < 60 || !GregorianDay.isLeap(year) ? 1 : 0)
            case .ofYear(let number): return january + number
            case .ofMonth(let month, let week, let weekday):
                let first = Self.first(of: month, in: year)
                // Weekdays of the calendar begin with Monday.
                let day = first + (weekday + 6 - GregorianDay.weekday(first) + 7) % 7 + (week - 1) * 7
                return day < first + GregorianDay.length(ofMonth: month, in: year) ? day : day - 7
            }
        }

        private static func first(of month: Int, in year: Int) -> Int {
            GregorianDay.number(year: year, month: month, day: 1) ?? 0
        }
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        var next: UInt8? { rest.first }
        var isAtEnd: Bool { rest.isEmpty }

        /// Letters, or anything in angle brackets.
        mutating func name() throws(InvalidZone) {
            if skip("<") {
                guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { throw .rule }
                rest = rest[(end + 1)...]
                return
            }
            let letters = rest.prefix { Self.isLetter($0) }
            guard letters.count >= 3 else { throw .rule }
            rest = rest.dropFirst(letters.count)
        }

        /// `[+-]hh[:mm[:ss]]` in seconds.
        mutating func time(hours: Int) throws(InvalidZone) -> Int {
            let isNegative = skip("-")
            if !isNegative { _ = skip("+") }
            var seconds = try number(0...hours) * 3_600
            if skip(":") {
                seconds += try number(0...59) * 60
                if skip(":") { seconds += try number(0...59) }
            }
            return isNegative ? -seconds : seconds
        }

        /// `,Mm.w.d`, `,Jn` or `,n`, and `/time`, which is 2:00 without.
        mutating func change() throws(InvalidZone) -> Change {
            guard skip(",") else { throw .rule }
            let day: Change.Day
            if skip("M") {
                let month = try number(1...12)
                guard skip(".") else { throw .rule }
                let week = try number(1...5)
                guard skip(".") else { throw .rule }
                day = .ofMonth(month, week: week, weekday: try number(0...6))
            } else if skip("J") {
                day = .withoutLeapDay(try number(1...365))
            } else {
                day = .ofYear(try number(0...365))
            }
            return Change(day: day, time: skip("/") ? try time(hours: 167) : 7_200)
        }

        private mutating func number(_ range: ClosedRange<Int>) throws(InvalidZone) -> Int {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard (1...3).contains(digits.count) else { throw .rule }
            let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            guard range.contains(number) else { throw .rule }
            rest = rest.dropFirst(digits.count)
            return number
        }

        private mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard next == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }

        private static func isLetter(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
            default: false
            }
        }
    }
}

extension InvalidZone {
    fileprivate static var rule: InvalidZone { InvalidZone("its rule for later times is none") }
}
