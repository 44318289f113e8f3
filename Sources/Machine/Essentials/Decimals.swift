extension Double {
    /// Without an exponent, rounded to a number of digits after the point, as C's `%f` does.
    package func decimal(places: Int) -> String {
        // The largest number has 309 digits before the point.
        var text = [CChar](repeating: 0, count: 330 + places)
        let count = withVaList([CInt(places), self]) { vsnprintf(&text, text.count, "%.*f", $0) }
        return String(decoding: text.prefix(Int(count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
