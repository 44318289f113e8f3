/// A color that is all there is to a text, as three or six hexadecimal digits with or without #.
struct HexColor: Hashable, Sendable {
    let red: UInt8
    let green: UInt8
    let blue: UInt8

    init?(_ text: String) {
        let digits = (text.hasPrefix("#") ? text.dropFirst() : text[...]).prefix(7)
        let values = digits.compactMap { $0.isASCII ? $0.hexDigitValue.map(UInt8.init) : nil }
        guard values.count == digits.count else { return nil }
        switch values.count {
        case 3: (red, green, blue) = (values[0] * 17, values[1] * 17, values[2] * 17)
        case 6:
            red = values[0] << 4 | values[1]
            green = values[2] << 4 | values[3]
            blue = values[4] << 4 | values[5]
        default: return nil
        }
    }
}
